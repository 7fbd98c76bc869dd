// What drives an input: a constant, a table, a file, or a curve drawn by hand.
import { Button, Group, Modal, Select, Switch, Textarea, TextInput } from '@mantine/core'
import { type PointerEvent, useEffect, useMemo, useRef, useState } from 'react'
import { declaredFrom, number, shownIn, symbol } from './format'
import { Segments } from './Light'
import type { DataFile, Quantity, Unit } from './protocol'
import { change, link, quantity, refuse, shownUnit, useStudio } from './store'

type Way = 'constant' | 'drawn' | 'table' | 'file'
export interface Table {
  times: number[]
  values: number[]
  hold?: boolean
}
const WAYS: { value: Way; label: string }[] = [{ value: 'constant', label: 'Constant' }, { value: 'drawn', label: 'Drawn' }, { value: 'table', label: 'Table' }, { value: 'file', label: 'File' }]
const isTable = (v: unknown): v is Table => typeof v === 'object' && v !== null && 'times' in v
const wayOf = (v: unknown): Way => (isTable(v) ? 'drawn' : typeof v === 'string' && /\.csv/i.test(v) ? 'file' : 'constant')

export function InputEditor({ path, close }: { path: string; close: () => void }) {
  const q = quantity(path)!
  const unit = shownUnit(q.unit, q.difference)
  const given = useStudio((s) => s.draft.inputs[path]) as unknown
  const [way, setWay] = useState<Way>(() => wayOf(given))
  const [value, setValue] = useState<unknown>(() => given ?? q.value ?? 0)
  const end = useEnd()
  const start = typeof value === 'number' ? value : Number(q.value) || 0
  const table = isTable(value) ? value : { times: [0, end], values: [start, start] }
  const apply = (next: unknown) => { change('inputs', path, next as never); close() }
  return (
    <Modal opened onClose={close} title={`Input ${path}`} size="lg" centered>
      <Segments fullWidth value={way} onChange={setWay} data={WAYS} label="Kind of input" />
      <div className="input-editor">
        {way === 'constant' && <Constant unit={unit} value={start} set={setValue} apply={apply} />}
        {way === 'drawn' && <Drawn q={q} unit={unit} end={end} table={table} set={setValue} />}
        {way === 'table' && <Lines unit={unit} table={table} set={setValue} />}
        {way === 'file' && <File path={path} value={typeof value === 'string' ? value : ''} set={setValue} />}
      </div>
      {(way === 'drawn' || way === 'table') && <Switch size="xs" label="Hold each value until the next one (steps)" checked={!!table.hold} onChange={(e) => setValue({ ...table, hold: e.currentTarget.checked })} />}
      <Group justify="flex-end" mt="md">
        <Button size="xs" variant="default" onClick={() => apply(undefined)}>As declared</Button>
        <Button size="xs" disabled={way === 'file' && typeof value !== 'string'} onClick={() => apply(way === 'constant' ? start : way === 'file' ? value : table)}>Use it</Button>
      </Group>
    </Modal>
  )
}

// How long a run takes, in seconds, as far as it can be told from what was typed.
function useEnd(): number {
  const typed = useStudio((s) => s.draft.until)
  const guess = useStudio((s) => s.model!.until)
  const m = /^([\d.]+(?:e[+-]?\d+)?)\s*(s|min|h|day|days|d)?$/i.exec(typed.trim())
  return m ? Number(m[1]) * ({ s: 1, min: 60, h: 3600, d: 86400, day: 86400, days: 86400 }[(m[2] ?? 's').toLowerCase()] ?? 1) : guess || 10
}

function Constant({ unit, value, set, apply }: { unit: Unit; value: number; set: (v: number) => void; apply: (v: number) => void }) {
  const [text, setText] = useState(number(shownIn(value, unit), 7))
  const read = (t: string) => Number(declaredFrom(Number(t.replace(',', '.')), unit).toPrecision(12))
  return <TextInput size="xs" label="Value" rightSection={<span className="unit">{symbol(unit.symbol)}</span>} rightSectionWidth={60} value={text} data-autofocus
    onChange={(e) => { setText(e.currentTarget.value); const v = read(e.currentTarget.value); if (Number.isFinite(v)) set(v) }} onKeyDown={(e) => { const v = read(text); if (e.key === 'Enter' && Number.isFinite(v)) apply(v) }} />
}

// --- a curve drawn by hand --------------------------------------------------------------------------------------------------------
const [WIDE, HIGH, LEFT, BOTTOM] = [560, 240, 52, 24]

function Drawn({ q, unit, end, table, set }: { q: Quantity; unit: Unit; end: number; table: Table; set: (t: Table) => void }) {
  const svg = useRef<SVGSVGElement>(null)
  const [held, hold] = useState(-1)
  const [chosen, choose] = useState(-1)
  const [low, high] = useMemo(() => span(q, table.values), [q, held < 0 ? table.values : held])
  const last = Math.max(end, table.times[table.times.length - 1] ?? 0)
  const x = (t: number) => LEFT + (t / last) * (WIDE - LEFT - 10)
  const y = (v: number) => 8 + ((high - v) / (high - low)) * (HIGH - BOTTOM - 8)
  const at = (e: { clientX: number; clientY: number }): [number, number] => {
    const box = svg.current!.getBoundingClientRect()
    const [px, py] = [((e.clientX - box.left) / box.width) * WIDE, ((e.clientY - box.top) / box.height) * HIGH]
    return [Number((((px - LEFT) / (WIDE - LEFT - 10)) * last).toPrecision(4)), Number((high - ((py - 8) / (HIGH - BOTTOM - 8)) * (high - low)).toPrecision(4))]
  }
  const put = (k: number, t: number, v: number) => {
    const times = [...table.times]
    const values = [...table.values]
    const [from, to] = [k > 0 ? times[k - 1] : 0, k + 1 < times.length ? times[k + 1] : last]
    times[k] = k === 0 ? 0 : Math.min(to, Math.max(from, t))
    values[k] = Math.min(q.maximum ?? Infinity, Math.max(q.minimum ?? -Infinity, v))
    set({ ...table, times, values })
  }
  const move = (e: PointerEvent) => { if (held >= 0) put(held, ...at(e)) }
  const add = (t: number, v: number) => {
    const k = table.times.findIndex((u) => u > t)
    const i = k < 0 ? table.times.length : k
    set({ ...table, times: [...table.times.slice(0, i), Math.max(0, t), ...table.times.slice(i)], values: [...table.values.slice(0, i), v, ...table.values.slice(i)] })
    choose(i)
  }
  const remove = (k: number) => { if (table.times.length > 1 && k > 0) { set({ ...table, times: table.times.filter((_, i) => i !== k), values: table.values.filter((_, i) => i !== k) }); choose(-1) } }
  const path = table.times.map((t, k) => `${k ? (table.hold ? `H${x(t)}V` : `L${x(t)},`) : `M${x(t)},`}${y(table.values[k])}`).join('')
  const step = (high - low) / 50
  return (
    <>
      <svg ref={svg} className="draw" viewBox={`0 0 ${WIDE} ${HIGH}`} role="application" aria-label="Draw the input: double click adds a point, dragging moves it" onPointerMove={move} onPointerUp={() => hold(-1)} onPointerLeave={() => hold(-1)}
        onDoubleClick={(e) => add(...at(e))}>
        <rect x={LEFT} y={8} width={WIDE - LEFT - 10} height={HIGH - BOTTOM - 8} className="draw-ground" />
        {[0, 0.25, 0.5, 0.75, 1].map((s) => <g key={s}><text x={LEFT - 6} y={y(low + s * (high - low)) + 4} textAnchor="end">{number(shownIn(low + s * (high - low), unit), 4)}</text><text x={x(s * last)} y={HIGH - 6} textAnchor={s === 1 ? 'end' : 'middle'}>{number(s * last, 4)}{s === 1 ? ' s' : ''}</text></g>)}
        <path d={`${path}H${x(last)}`} className="draw-line" />
        {table.times.map((t, k) => (
          <circle key={k} cx={x(t)} cy={y(table.values[k])} r={k === chosen ? 7 : 5.5} className={k === chosen ? 'draw-point chosen' : 'draw-point'} tabIndex={0} role="slider" aria-label={`Point ${k + 1}`} aria-valuenow={table.values[k]} aria-valuetext={`${number(shownIn(table.values[k], unit))} ${symbol(unit.symbol)} at ${number(t)} s`}
            onPointerDown={(e) => { e.currentTarget.setPointerCapture?.(e.pointerId); hold(k); choose(k) }} onFocus={() => choose(k)}
            onKeyDown={(e) => {
              const keys: Record<string, () => void> = { ArrowUp: () => put(k, t, table.values[k] + step), ArrowDown: () => put(k, t, table.values[k] - step), ArrowLeft: () => put(k, t - last / 50, table.values[k]), ArrowRight: () => put(k, t + last / 50, table.values[k]), Delete: () => remove(k), Backspace: () => remove(k) }
              if (keys[e.key]) { e.preventDefault(); keys[e.key]() }
            }} />
        ))}
      </svg>
      <Group gap={6}><Button size="compact-xs" variant="light" onClick={() => add(0.5 * last, table.values[Math.floor((table.values.length - 1) / 2)])}>Add a point</Button><Button size="compact-xs" variant="light" disabled={chosen < 1} onClick={() => remove(chosen)}>Remove the point</Button>
        {chosen >= 0 && chosen < table.times.length && <span className="dim">{number(shownIn(table.values[chosen], unit))} {symbol(unit.symbol)} at {number(table.times[chosen])} s</span>}</Group>
    </>
  )
}

function span(q: Quantity, values: number[]): [number, number] {
  const [low, high] = [Math.min(...values), Math.max(...values)]
  const size = Math.max(high - low, q.unit === 'K' && !q.difference ? 10 : 0.5 * Math.max(Math.abs(high), Math.abs(low)) || 1)
  return [Math.max(q.minimum ?? -Infinity, low - 0.5 * size), Math.min(q.maximum ?? Infinity, high + 0.5 * size)]
}

// --- a table ----------------------------------------------------------------------------------------------------------------------
function Lines({ unit, table, set }: { unit: Unit; table: Table; set: (t: Table) => void }) {
  const [text, setText] = useState(() => table.times.map((t, k) => `${number(t, 8)}\t${number(shownIn(table.values[k], unit), 8)}`).join('\n'))
  const [wrong, setWrong] = useState('')
  const read = (typed: string) => {
    setText(typed)
    const rows = typed.split('\n').map((l) => l.trim()).filter(Boolean).map((l) => l.split(/[\s;]+|,(?=\s|\S+$)/).map((c) => Number(c.replace(',', '.'))))
    const bad = rows.findIndex((r, k) => r.length !== 2 || r.some((v) => !Number.isFinite(v)) || (k > 0 && r[0] < rows[k - 1][0]))
    setWrong(!rows.length ? 'A table has a line with a time and a value.' : bad >= 0 ? `Line ${bad + 1} is no time and value, or goes back in time.` : '')
    if (rows.length && bad < 0) set({ ...table, times: rows.map((r) => r[0]), values: rows.map((r) => Number(declaredFrom(r[1], unit).toPrecision(12))) })
  }
  return <Textarea size="xs" autosize minRows={6} maxRows={14} label={`Time in s, value in ${symbol(unit.symbol) || '1'}: one line for each, as from a spreadsheet`} aria-label="Table of the input" value={text} error={wrong} onChange={(e) => read(e.currentTarget.value)} styles={{ input: { fontFamily: 'monospace' } }} />
}

// --- a file -----------------------------------------------------------------------------------------------------------------------
export function useFiles(): [DataFile[], (f: globalThis.File) => Promise<DataFile | null>] {
  const [files, setFiles] = useState<DataFile[]>([])
  useEffect(() => { link.ask('files', {}).then(setFiles).catch(refuse) }, [])
  const bring = async (f: globalThis.File): Promise<DataFile | null> => {
    try {
      if (f.size > 900_000) throw new Error(`${f.name} is too large to be brought by the page: put it beside the model's file.`)
      const made = await link.ask('upload', { name: f.name, text: await f.text() })
      setFiles((all) => [made, ...all.filter((x) => x.path !== made.path)])
      return made
    } catch (error) {
      refuse(error)
      return null
    }
  }
  return [files, bring]
}

function File({ path, value, set }: { path: string; value: string; set: (v: string) => void }) {
  const [files, bring] = useFiles()
  const [file, column] = /^(.*\.csv):(.*)$/i.exec(value)?.slice(1) ?? [value, '']
  const found = files.find((f) => f.path === file)
  const take = (f: DataFile | null | undefined) => { if (f) set(`${f.path}:${f.columns.find((c) => c.split(' ')[0] === path || c.split(' ')[0] === path.split('.').at(-1)) ?? f.columns.find((c) => !/^time\b/.test(c)) ?? ''}`) }
  return (
    <>
      <FileChoice files={files} value={file} choose={(p) => take(files.find((f) => f.path === p))} bring={async (f) => take(await bring(f))} />
      {found && <Select size="xs" label="Column" aria-label="Column of the file" value={column} allowDeselect={false} data={found.columns.filter((c) => !/^time\b/.test(c))} onChange={(c) => set(`${file}:${c}`)} comboboxProps={{ withinPortal: true }} />}
    </>
  )
}

export function FileChoice({ files, value, choose, bring }: { files: DataFile[]; value: string; choose: (path: string) => void; bring: (f: globalThis.File) => void }) {
  const picker = useRef<HTMLInputElement>(null)
  return (
    <Group gap={6} align="flex-end" wrap="nowrap">
      <Select size="xs" className="grow" label="File" aria-label="File with data" placeholder={files.length ? 'Choose …' : 'There is none beside the model.'} searchable value={value || null} data={files.map((f) => ({ value: f.path, label: f.name }))} onChange={(v) => v && choose(v)} comboboxProps={{ withinPortal: true }} />
      <input ref={picker} type="file" accept=".csv,text/csv" hidden aria-label="Bring a file" onChange={(e) => { const f = e.currentTarget.files?.[0]; if (f) bring(f); e.currentTarget.value = '' }} />
      <Button size="xs" variant="default" onClick={() => picker.current?.click()}>Bring one …</Button>
    </Group>
  )
}
