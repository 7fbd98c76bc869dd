// Component classes to be put into the plant: drag one onto the diagram, or press Enter on it.
import { ScrollArea, TextInput } from '@mantine/core'
import { useEffect, useMemo, useState } from 'react'
import { Icon } from './icons'
import type { Piece } from './protocol'
import { edit, link, refuse, useStudio } from './store'

export function Palette({ kind }: { kind: string }) {
  const version = useStudio((s) => s.model?.version)
  const [pieces, setPieces] = useState<Piece[]>([])
  const [text, setText] = useState('')
  useEffect(() => { link.ask('palette', {}).then(setPieces).catch(refuse) }, [version === undefined])
  const groups = useMemo(() => {
    const words = text.toLowerCase().split(/\s+/).filter(Boolean)
    const found = new Map<string, Piece[]>()
    for (const p of pieces) if (words.every((w) => `${p.name} ${p.doc} ${p.group}`.toLowerCase().includes(w))) found.set(p.group, [...(found.get(p.group) ?? []), p])
    return [...found]
  }, [pieces, text])
  return (
    <aside className="palette" aria-label="Palette">
      <TextInput size="xs" m={6} placeholder="Search components" aria-label="Search components" value={text} onChange={(e) => setText(e.currentTarget.value)} leftSection={<Icon name="search" size={13} />} />
      <ScrollArea className="palette-list" type="auto" scrollbarSize={7}>
        {!pieces.length && <p className="dim" style={{ padding: '0 10px' }}>Looking through the library …</p>}
        {groups.map(([group, some]) => (
          <section key={group}><h3>{group}</h3>
            {some.map((p) => (
              <button key={p.name} className="piece" draggable title={p.doc} aria-label={`Add ${p.name}`}
                onDragStart={(e) => { e.dataTransfer.setData('text/acausal-piece', JSON.stringify(p)); e.dataTransfer.effectAllowed = 'copy' }}
                onDoubleClick={() => void edit(kind, [{ do: 'add', kind: p.name, module: p.module }])}
                onKeyDown={(e) => { if (e.key === 'Enter') void edit(kind, [{ do: 'add', kind: p.name, module: p.module }]) }}>
                <Icon name={p.icon} size={22} /><span>{p.name}</span>
              </button>
            ))}
          </section>
        ))}
      </ScrollArea>
    </aside>
  )
}
