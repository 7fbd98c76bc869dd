// The right side: a component or a variable, from close by.
import { ActionIcon, Button, ScrollArea, UnstyledButton } from '@mantine/core'
import { useEffect, useState } from 'react'
import { elements, number, shownIn, symbol } from './format'
import { Icon } from './icons'
import type { Explanation, Part, Unit } from './protocol'
import { edit, link, plot, quantity, refuse, shownUnit, useStudio } from './store'

export function Inspector() {
  const variable = useStudio((s) => s.variable)
  const selected = useStudio((s) => s.selected)
  const model = useStudio((s) => s.model)
  const part = model?.parts.find((p) => p.path === selected)
  if (!variable && !(part && selected)) return null
  return (
    <aside className="inspector" aria-label="Details">
      <ActionIcon className="inspector-close" size="sm" variant="subtle" color="gray" aria-label="Close details" onClick={() => useStudio.setState({ variable: '', selected: '' })}><Icon name="close" size={13} /></ActionIcon>
      <ScrollArea h="100%" type="auto" scrollbarSize={8}>{variable ? <Variable path={variable} /> : <Component part={part!} />}</ScrollArea>
    </aside>
  )
}

// What a class says of itself; what stands between backticks is code.
const Prose = ({ text }: { text: string }) => <>{text.split(/`+([^`]+)`+/).map((piece, k) => (k % 2 ? <code key={k}>{piece}</code> : piece))}</>

function Variable({ path }: { path: string }) {
  const [found, setFound] = useState<Explanation | null>(null)
  useEffect(() => {
    setFound(null)
    link.ask('explain', { path }).then(setFound).catch((e) => { refuse(e); useStudio.setState({ variable: '' }) })
  }, [path])
  const drawn = useStudio((s) => s.panels.some((p) => p.names.includes(path)))
  const q = quantity(path)
  return (
    <div className="inspect">
      <h2>{path}</h2>
      {q?.doc && <p>{q.doc}{q.unit && <span className="dim"> [{symbol(q.unit)}]</span>}</p>}
      <Button size="compact-xs" variant="light" onClick={() => plot(path)}>{drawn ? 'Take it from the plot' : 'Plot it'}</Button>
      {!found && <p className="dim">Asking the model …</p>}
      {found && <dl>{found.facts.map((f, k) => (
        <div key={k} className="fact">
          {f.label && <dt>{f.label}</dt>}
          <dd className={f.label === 'determined by' ? 'code' : ''}>{f.text}{f.paths.map((p) => <UnstyledButton key={p} className="link" onClick={() => useStudio.setState({ variable: p.replace(/^-/, '').replace(/^der\((.*)\)$/, '$1') })}>{p}</UnstyledButton>)}</dd>
        </div>
      ))}</dl>}
    </div>
  )
}

// A value as the model's file states it: another number is written there.
function InFile({ part, name, value, unit }: { part: Part; name: string; value: number; unit: Unit }) {
  const owner = useStudio((s) => s.model?.parts[part.parent]?.kind ?? '')
  const [typed, setTyped] = useState<string | null>(null)
  const commit = () => {
    const n = Number((typed ?? '').replace(',', '.'))
    if (typed !== null && typed.trim() && Number.isFinite(n)) void edit(owner, [{ do: 'set', part: part.name, parameter: name, value: Number(((n - unit.offset) / unit.factor).toPrecision(12)) }])
    setTyped(null)
  }
  return <span className="in-file"><input className="value" aria-label={`${part.path}.${name} in the file`} value={typed ?? number(shownIn(value, unit), 7)} onChange={(e) => setTyped(e.currentTarget.value)} onBlur={commit} onKeyDown={(e) => { if (e.key === 'Enter') e.currentTarget.blur() }} /><span className="unit">{symbol(unit.symbol)}</span></span>
}

function Component({ part }: { part: Part }) {
  useStudio((s) => s.units)
  const owner = useStudio((s) => s.model?.parts[part.parent]?.kind ?? '')
  const writable = useStudio((s) => s.editing && !part.shape.length && !!s.model?.written.includes(owner))
  const mine = useStudio((s) => s.editing && !!s.model?.written.includes(owner))
  const parameters = part.quantities.filter((q) => q.role === 'parameter')
  const signals = part.quantities.filter((q) => q.role !== 'parameter' && q.role !== 'constant')
  return (
    <div className="inspect">
      <h2>{part.path}</h2>
      <p className="dim">{part.kind}{part.shape.length > 0 && ` × ${part.shape.join(' × ')}`}</p>
      <p className="doc"><Prose text={part.doc} /></p>
      {mine && part.shape.length < 2 && !/\[\d/.test(part.name) && <p><span className="dim">How many of them: </span><input className="value" style={{ width: 64 }} key={part.shape[0] ?? 1} aria-label={`How many ${part.name}`} defaultValue={part.shape[0] ?? 1}
        onBlur={(e) => { const n = Math.floor(Number(e.currentTarget.value)); if (n >= 1 && n !== (part.shape[0] ?? 1)) void edit(owner, [{ do: 'array', part: part.name, count: n === 1 ? 0 : n }]) }} onKeyDown={(e) => { if (e.key === 'Enter') e.currentTarget.blur() }} /></p>}
      {part.composite && <Button size="compact-xs" variant="light" onClick={() => useStudio.setState({ level: part.path, selected: '' })}>Look inside</Button>}
      {parameters.length > 0 && <h3>{writable ? 'Parameters, in the file' : 'Parameters'}</h3>}
      <table className="brief"><tbody>{parameters.map((q) => {
        const unit = shownUnit(q.unit, q.difference)
        const v = q.value
        if (writable && typeof v === 'number') return <tr key={q.path} title={q.doc}><td>{q.name}</td><td><InFile part={part} name={q.name} value={v} unit={unit} /></td></tr>
        return <tr key={q.path} title={q.doc}><td>{q.name}</td><td>{typeof v === 'number' ? `${number(shownIn(v, unit))} ${symbol(unit.symbol)}` : Array.isArray(v) ? `[${v.length}]` : String(v)}</td></tr>
      })}</tbody></table>
      {signals.length > 0 && <h3>Signals</h3>}
      <ul className="brief">{signals.slice(0, 80).map((q) => <li key={q.path} title={q.doc}><UnstyledButton className="link" onClick={() => useStudio.setState({ variable: elements(q, 1)[0] })}>{q.name}</UnstyledButton><span className="dim">{symbol(q.unit)}</span></li>)}</ul>
    </div>
  )
}
