// All cases side by side: what each changes, and their runs in one plot.
import { Button, ScrollArea } from '@mantine/core'
import { useState } from 'react'
import { number, shownIn, symbol } from './format'
import type { Case } from './protocol'
import { EMPTY, quantity, runAll, unitFor, useStudio } from './store'

export function Cases() {
  const cases = useStudio((s) => s.cases)
  const draft = useStudio((s) => s.draft)
  const [going, setGoing] = useState(false)
  useStudio((s) => s.units)
  if (!cases.length) return <div className="hint">There are no cases yet. Change something and save it as a case: they are compared here.</div>
  const all: Case[] = [{ ...EMPTY, name: 'As declared', until: draft.until }, ...cases]
  const paths = [...new Set(cases.flatMap((c) => [...Object.keys(c.set), ...Object.keys(c.inputs)]))].sort()
  const run = async () => {
    setGoing(true)
    await runAll([{ ...EMPTY, until: draft.until }, ...cases.map((c) => ({ ...c, until: c.until || draft.until }))])
    setGoing(false)
  }
  return (
    <section className="cases" aria-label="Cases side by side">
      <div className="study-head"><h2>{cases.length + 1} cases side by side</h2><span className="grow" /><Button size="xs" disabled={going} onClick={() => void run()}>{going ? 'Running them …' : 'Run all and compare'}</Button></div>
      <ScrollArea className="study-table" type="auto">
        <table className="event-table"><thead><tr><th>quantity</th>{all.map((c) => <th key={c.name}>{c.name}</th>)}<th></th></tr></thead>
          <tbody>
            <tr><td>until</td>{all.map((c) => <td key={c.name}>{c.until || draft.until}</td>)}<td /></tr>
            {paths.map((p) => (
              <tr key={p} title={quantity(p)?.doc}><td>{p}</td>
                {all.map((c) => { const own = p in c.set || p in c.inputs; const v = c.set[p] ?? c.inputs[p] ?? quantity(p)?.value ?? quantity(p)?.start; return <td key={c.name} className={own ? 'own' : 'dim'}>{text(p, v)}</td> })}
                <td className="dim">{symbol(unitFor(p, quantity(p)?.unit ?? '').symbol)}</td></tr>
            ))}
            {cases.some((c) => c.note) && <tr><td>note</td>{all.map((c) => <td key={c.name}>{c.note}</td>)}<td /></tr>}
          </tbody></table>
      </ScrollArea>
    </section>
  )
}

const text = (path: string, v: unknown): string => (typeof v === 'number' ? number(shownIn(v, unitFor(path, quantity(path)?.unit ?? ''))) : v && typeof v === 'object' && 'times' in v ? `${(v as { times: number[] }).times.length} points` : v === null || v === undefined ? '–' : String(v).split('/').at(-1)!)
