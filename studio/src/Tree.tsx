// The left side: parameters, start values, inputs and signals as a tree of components, with search.
import { ActionIcon, Slider, Text, TextInput, UnstyledButton } from '@mantine/core'
import { useDeferredValue, useEffect, useMemo, useState } from 'react'
import { flushSync } from 'react-dom'
import { declaredFrom, elements, number, plain, shownIn, symbol } from './format'
import { Icon } from './icons'
import { InputEditor } from './Inputs'
import { Choose, Hint, Segments } from './Light'
import { indexAt } from './pyramid'
import type { Part, Quantity } from './protocol'
import { change, link, need, plot, refuse, seriesOf, setUnit, shownUnit, unitFor, useStudio } from './store'

type Tab = 'parameters' | 'start' | 'inputs' | 'signals'
const TABS: { value: Tab; label: string }[] = [
  { value: 'parameters', label: 'Parameters' },
  { value: 'start', label: 'Start' },
  { value: 'inputs', label: 'Inputs' },
  { value: 'signals', label: 'Signals' },
]
const BELONGS: Record<Tab, (q: Quantity) => boolean> = {
  parameters: (q) => q.role === 'parameter',
  start: (q) => q.state && q.role !== 'parameter',
  inputs: (q) => q.role === 'input' && !q.connected,
  signals: (q) => q.role !== 'parameter' && q.role !== 'constant',
}
const MOST = 300

export function Tree() {
  const model = useStudio((s) => s.model)
  const [tab, setTab] = useState<Tab>('parameters')
  const [text, setText] = useState('')
  const words = useDeferredValue(text.trim().toLowerCase())
  const selected = useStudio((s) => s.selected)
  const groups = useMemo(() => (model ? grouped(model.parts, tab, words) : []), [model, tab, words])
  const [open, setOpen] = useState<Record<string, boolean>>({})
  useEffect(() => {
    if (selected) setOpen((o) => ({ ...o, [selected]: true }))
    if (selected) document.getElementById(`group-${selected}`)?.scrollIntoView({ block: 'nearest' })
  }, [selected])
  const total = groups.reduce((n, g) => n + g.quantities.length, 0)
  let left = MOST
  return (
    <nav className="side" aria-label="Quantities">
      <div className="side-head">
        <Segments fullWidth value={tab} onChange={setTab} data={TABS} label="What is listed" />
        <TextInput size="xs" placeholder={`Search ${tab === 'start' ? 'start values' : tab}`} aria-label="Search quantities" value={text} onChange={(e) => setText(e.currentTarget.value)} leftSection={<Icon name="search" size={14} />} />
      </div>
      <div className="side-list">
        {tab === 'parameters' && !words && model && model.choices.length > 0 && <Choices />}
        {groups.map((g) => {
          const isOpen = words !== '' || (open[g.part.path] ?? (total < 60 || g.part.path === '' || groups.length === 1))
          const shown = isOpen ? g.quantities.slice(0, Math.max(0, left)) : []
          left -= shown.length
          return (
            <section key={g.part.path} id={`group-${g.part.path}`} className={g.part.path === selected && selected ? 'group chosen' : 'group'}>
              <UnstyledButton className="group-head" aria-expanded={isOpen} onClick={() => setOpen({ ...open, [g.part.path]: !isOpen })}>
                <Icon name={isOpen ? 'down' : 'right'} size={12} />
                <span className="group-name">{g.part.path || model!.title}</span>
                <span className="group-kind">{g.part.path ? g.part.kind : 'model'}</span>
                <span className="group-count">{g.quantities.length}</span>
              </UnstyledButton>
              {shown.map((q) => (tab === 'signals' ? <Signal key={q.path} q={q} /> : <Field key={q.path} q={q} tab={tab} />))}
            </section>
          )
        })}
        {model && !groups.length && <Text size="sm" c="dimmed" p="md">{words ? `Nothing matches “${text}”.` : NOTHING[tab]}</Text>}
        {left <= 0 && <Text size="xs" c="dimmed" p="sm">More than {MOST} lines: search, or close some components.</Text>}
      </div>
    </nav>
  )
}

// Arguments of the model's class: another value makes another model.
function Choices() {
  const choices = useStudio((s) => s.model!.choices)
  const loading = useStudio((s) => s.status.phase === 'loading')
  const choose = (name: string, text: string) => {
    const read = text === '' || text === 'None' ? null : text === 'True' ? true : text === 'False' ? false : Number.isFinite(Number(text)) ? Number(text) : text
    if (read !== choices.find((c) => c.name === name)?.value) void link.ask('choose', { choices: Object.fromEntries(choices.filter((c) => c.value !== null || c.name === name).map((c) => [c.name, c.name === name ? read : c.value])) }).catch(refuse)
  }
  return (
    <section className="group">
      <div className="group-head"><span className="group-name">Structure</span><span className="group-kind">{loading ? 'translating …' : 'a change translates the model again'}</span></div>
      {choices.map((c) => (
        <div key={c.name} className="field"><span className="field-name">{c.name}</span>
          <Value label={`${c.name} of the structure`} text={c.value === null ? 'None' : c.value === true ? 'True' : c.value === false ? 'False' : String(c.value)} wrong={false} commit={(t) => choose(c.name, t.trim())} /></div>
      ))}
    </section>
  )
}

const NOTHING: Record<Tab, string> = {
  parameters: 'This model has no parameters.',
  start: 'This model has no states: there are no start values to choose.',
  inputs: 'Every input of this model is connected: nothing is given from outside.',
  signals: 'This model has no signals.',
}

function grouped(parts: Part[], tab: Tab, words: string): { part: Part; quantities: Quantity[] }[] {
  const belongs = BELONGS[tab]
  const wanted = words.split(/\s+/).filter(Boolean)
  const matches = (q: Quantity) => wanted.every((w) => q.path.toLowerCase().includes(w) || q.doc.toLowerCase().includes(w))
  return parts.map((part) => ({ part, quantities: part.quantities.filter((q) => belongs(q) && matches(q)) })).filter((g) => g.quantities.length)
}

// --- a value that can be changed -------------------------------------------------------------------------------------------------
function Field({ q, tab }: { q: Quantity; tab: Tab }) {
  const layer = tab === 'inputs' ? 'inputs' : 'set'
  const path = plain(q.path)
  const given = useStudio((s) => s.draft[layer][path])
  useStudio((s) => s.units[q.unit])
  const unit = shownUnit(q.unit, q.difference)
  const value = given !== undefined ? given : tab === 'start' ? (q.start ?? 0) : q.value
  const changed = given !== undefined
  const scalar = typeof value === 'number'
  const [active, setActive] = useState(false)
  const [asking, setAsking] = useState(false)
  const locked = useStudio((s) => !!s.model?.free && !s.model.free.includes(path))
  const wrong = scalar && ((q.minimum !== null && (value as number) < q.minimum) || (q.maximum !== null && (value as number) > q.maximum))
  const commit = (text: string): void => {
    const read = parse(text, unit)
    if (read !== undefined && read !== value && text !== written(value, unit)) change(layer, path, read)
  }
  return (
    <div className={changed ? 'field changed' : 'field'} onFocus={() => setActive(true)} onBlur={(e) => !e.currentTarget.contains(e.relatedTarget) && setActive(false)}>
      <Hint label={<About q={q} />}>
        <span className="field-name">{q.name}</span>
      </Hint>
      <Value label={`${path} value`} text={written(value, unit)} wrong={wrong} commit={commit} locked={locked} />
      <UnitMenu unit={q.unit} difference={q.difference} />
      {tab === 'inputs' && !q.shape.length && !locked && <ActionIcon className="field-way" size="xs" variant="subtle" color="gray" aria-label={`Draw or choose ${path}`} title="A curve, a table or a file" onClick={() => setAsking(true)}><Icon name="curve" size={13} /></ActionIcon>}
      {asking && <InputEditor path={path} close={() => setAsking(false)} />}
      <ActionIcon className="field-reset" size="xs" variant="subtle" color="gray" aria-label={`Reset ${path}`} style={{ visibility: changed ? 'visible' : 'hidden' }} onClick={() => change(layer, path, undefined)}>
        <Icon name="reset" size={12} />
      </ActionIcon>
      {q.bound && !changed && <span className="field-bound">= {q.bound}</span>}
      {wrong && <span className="field-wrong" role="alert">{bounds(q)}</span>}
      {scalar && !locked && (active || changed) && q.role !== 'discrete' && <Drag q={q} path={path} value={value as number} set={(v) => change(layer, path, v)} />}
    </div>
  )
}

function Value({ label, text, wrong, commit, locked = false }: { label: string; text: string; wrong: boolean; commit: (text: string) => void; locked?: boolean }) {
  const [typed, setTyped] = useState<string | null>(null)
  return (
    <input
      className={wrong ? 'value wrong' : 'value'} aria-label={label} aria-invalid={wrong} readOnly={locked} title={locked ? 'The author of this application left it closed.' : undefined} spellCheck={false} value={typed ?? text}
      onChange={(e) => setTyped(e.currentTarget.value)}
      onFocus={(e) => e.currentTarget.select()}
      onBlur={() => { if (typed !== null) commit(typed); setTyped(null) }}
      onKeyDown={(e) => {
        if (e.key === 'Escape') flushSync(() => setTyped(null)) // before it loses the focus, which would take it as it was typed
        if (e.key === 'Enter' || e.key === 'Escape') e.currentTarget.blur()
      }}
    />
  )
}

function Drag({ q, path, value, set }: { q: Quantity; path: string; value: number; set: (v: number) => void }) {
  const [span, setSpan] = useState(() => range(q, value))
  const [low, high] = span
  useEffect(() => { if (value < low || value > high) setSpan(range(q, value)) }, [value, low, high, q])
  const unit = shownUnit(q.unit, q.difference)
  return (
    <div className="field-slider">
      <Slider size={3} thumbSize={12} min={low} max={high} step={(high - low) / 500} value={Math.min(high, Math.max(low, value))} label={null} thumbLabel={`${path} slider`}
        onChange={(v) => set(Number(v.toPrecision(5)))} />
      <span className="field-span">{number(shownIn(low, unit), 3)}</span>
      <span className="field-span end">{number(shownIn(high, unit), 3)}</span>
    </div>
  )
}

// Where a slider goes: between the bounds if there are both, otherwise around the value.
function range(q: Quantity, value: number): [number, number] {
  if (q.minimum !== null && q.maximum !== null) return [q.minimum, q.maximum]
  if (q.unit === 'K' && !q.difference) return [value - 20, value + 20]
  const size = Math.abs(value) || 1
  const low = q.minimum !== null && q.minimum >= 0 ? Math.max(q.minimum, value === 0 ? 0 : value / 4) : value > 0 ? value / 4 : value - 2 * size
  return [low, q.maximum ?? (value > 0 ? 3 * value : value + 2 * size)]
}

function UnitMenu({ unit, difference }: { unit: string; difference: boolean }) {
  const all = (useStudio((s) => s.model?.units[unit]) ?? []).filter((u) => !difference || u.offset === 0)
  const shown = shownUnit(unit, difference)
  if (all.length < 2) return <span className="unit">{symbol(unit)}</span>
  return <Choose label={`Unit ${shown.symbol}`} shown={symbol(shown.symbol)} data={all.map((u) => ({ value: u.symbol, label: symbol(u.symbol) }))} choose={(s) => setUnit(unit, s)} />
}

export function About({ q }: { q: Quantity }) {
  return (
    <div className="about">
      <strong>{q.path}</strong>
      {q.doc && <div>{q.doc}</div>}
      {bounds(q) && <div className="dim">{bounds(q)}</div>}
      {q.bound && <div className="dim">= {q.bound}</div>}
      {q.place && <div className="dim">{q.place.split('/').slice(-2).join('/')}</div>}
    </div>
  )
}

function bounds(q: Quantity): string {
  const unit = shownUnit(q.unit, q.difference)
  const told = (v: number) => `${number(shownIn(v, unit))} ${symbol(unit.symbol)}`.trim()
  if (q.minimum !== null && q.maximum !== null) return `from ${told(q.minimum)} to ${told(q.maximum)}`
  return q.minimum !== null ? `at least ${told(q.minimum)}` : q.maximum !== null ? `at most ${told(q.maximum)}` : ''
}

const written = (value: unknown, unit: { factor: number; offset: number; symbol: string }): string =>
  typeof value === 'number' ? number(shownIn(value, unit), 7) : Array.isArray(value) ? `[${value.map((v) => (typeof v === 'number' ? number(shownIn(v, unit), 5) : String(v))).join(', ')}]` : value === null || value === undefined ? '' : typeof value === 'object' ? `${(value as { times: number[] }).times.length} points` : String(value).split('/').at(-1)!

function parse(text: string, unit: { factor: number; offset: number; symbol: string }): number | string | unknown[] | undefined {
  const stripped = text.trim()
  if (!stripped) return undefined
  if (/^[+-]?[\d.,]+([eE][+-]?\d+)?$/.test(stripped)) {
    const n = Number(stripped.replace(',', '.'))
    if (Number.isFinite(n)) return Number(declaredFrom(n, unit).toPrecision(12))
  }
  if (stripped.startsWith('[')) {
    try {
      const list = JSON.parse(stripped) as unknown[]
      return list.map((v) => (typeof v === 'number' ? Number(declaredFrom(v, unit).toPrecision(12)) : v))
    } catch {
      return undefined
    }
  }
  return stripped
}

// --- a signal that can be drawn --------------------------------------------------------------------------------------------------
function Signal({ q }: { q: Quantity }) {
  const [open, setOpen] = useState(false)
  const names = useMemo(() => (open || !q.shape.length ? elements(q) : []), [q, open])
  if (!q.shape.length) return <Line name={q.path} q={q} label={q.name} />
  return (
    <div>
      <UnstyledButton className="signal array" aria-expanded={open} onClick={() => setOpen(!open)}>
        <Icon name={open ? 'down' : 'right'} size={10} /><span className="signal-name">{q.name}</span><span className="dim">[{q.shape.join(' × ')}]</span>
      </UnstyledButton>
      {names.map((n) => <Line key={n} name={n} q={q} label={n.split('.').slice(q.path.replace(/\[[^\]]*\]$/, '').includes('*') ? -2 : -1).join('.')} inner />)}
    </div>
  )
}

function Line({ name, q, label, inner = false }: { name: string; q: Quantity; label: string; inner?: boolean }) {
  const drawn = useStudio((s) => s.panels.some((p) => p.names.includes(name)))
  return (
    <div className={inner ? 'signal inner' : 'signal'} draggable onDragStart={(e) => { e.dataTransfer.setData('text/acausal', name); e.dataTransfer.setData('text/plain', name) }}>
      <input type="checkbox" aria-label={`Plot ${name}`} checked={drawn} onChange={() => plot(name)} />
      <Hint label={<About q={q} />}>
        <UnstyledButton className="signal-name" onClick={() => useStudio.setState({ variable: name })} aria-label={`Explain ${name}`}>{q.state ? <b>{label}</b> : label}</UnstyledButton>
      </Hint>
      {drawn && <Now name={name} />}
      <span className="unit">{symbol(shownUnit(q.unit, q.difference).symbol)}</span>
    </div>
  )
}

function Now({ name }: { name: string }) {
  const run = useStudio((s) => s.current)
  const t = useStudio((s) => s.time)
  useStudio((s) => s.version)
  useEffect(() => need(run, [name]), [run, name])
  const found = seriesOf(run, name)
  if (!found) return null
  const value = found.pyramid.y[indexAt(found.x, t)]
  return <span className="signal-now">{found.states.length ? (found.states[value] ?? '') : number(shownIn(value, unitFor(name, found.unit)), 4)}</span>
}
