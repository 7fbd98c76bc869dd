// Many runs from a form: what varies, what is asked of each run; a table that grows, and a picture of it.
import { ActionIcon, Button, NumberInput, ScrollArea, Select, TextInput } from '@mantine/core'
import { useEffect, useMemo, useRef, useState } from 'react'
import uPlot from 'uplot'
import { elements, number, plain, shownIn, symbol } from './format'
import { Cases } from './Cases'
import { Fits } from './Fits'
import { Icon } from './icons'
import { Segments } from './Light'
import { save } from './pictures'
import { padded } from './Plot'
import type { Study } from './protocol'
import { link, quantity, refuse, unitFor, useStudio } from './store'

interface Vary {
  path: string
  low: number
  high: number
  count: number
}

const KINDS = [{ value: 'study', label: 'Study' }, { value: 'fit', label: 'Fit to data' }, { value: 'cases', label: 'Cases' }]
export function Studies() {
  const [kind, setKind] = useState('study')
  return (
    <div className="studies">
      <div className="studies-kind"><Segments value={kind} onChange={setKind} data={KINDS} label="Study or fit" /></div>
      {kind === 'study' ? <Sweep /> : kind === 'fit' ? <Fits /> : <Cases />}
    </div>
  )
}

function Sweep() {
  const model = useStudio((s) => s.model)!
  const studies = useStudio((s) => s.studies)
  const draft = useStudio((s) => s.draft)
  useStudio((s) => s.units)
  const parameters = useMemo(() => model.parts.flatMap((p) => p.quantities.filter((q) => (q.role === 'parameter' && typeof q.value === 'number' && !q.shape.length))), [model])
  const signals = useMemo(() => model.parts.flatMap((p) => p.quantities.filter((q) => q.role !== 'parameter' && q.role !== 'constant').flatMap((q) => elements(q, 12))), [model])
  const [vary, setVary] = useState<Vary[]>([])
  const [outputs, setOutputs] = useState<string[]>([])
  const [way, setWay] = useState('grid')
  const [draws, setDraws] = useState(50)
  const [kind, setKind] = useState('final')
  const cases = way === 'grid' ? vary.reduce((n, v) => n * Math.max(1, v.count), vary.length ? 1 : 0) : draws
  const add = (path: string | null) => {
    const q = path && parameters.find((x) => x.path === path)
    if (!q || vary.some((v) => v.path === path)) return
    const v = (draft.set[path] as number) ?? (q.value as number)
    setVary([...vary, { path, low: q.unit === 'K' ? v - 5 : v * 0.5, high: q.unit === 'K' ? v + 5 : v * 1.5 || 1, count: 5 }])
  }
  const edit = (k: number, what: Partial<Vary>) => setVary(vary.map((v, i) => (i === k ? { ...v, ...what } : v)))
  const run = () => {
    const over = Object.fromEntries(vary.map((v) => [plain(v.path), way === 'grid' ? spread(v) : [v.low, v.high]]))
    link.ask('study', { case: draft, over, outputs, draws: way === 'grid' ? 0 : draws }).then((s) => useStudio.setState((x) => ({ studies: [...x.studies.filter((y) => y.id !== s.id), s] }))).catch(refuse)
  }
  const study = studies.at(-1)
  return (
    <>
      <section className="study-form" aria-label="New study">
        <h2>What varies</h2>
        {vary.map((v, k) => {
          const unit = unitFor(v.path, quantity(v.path)?.unit ?? '')
          const back = (x: number | string) => (Number(x) - unit.offset) / unit.factor
          return (
            <div key={v.path} className="study-row">
              <span className="study-name" title={v.path}>{v.path}</span>
              <NumberInput size="xs" w={82} hideControls aria-label={`${v.path} from`} value={Number(shownIn(v.low, unit).toPrecision(6))} onChange={(x) => edit(k, { low: back(x) })} />
              <NumberInput size="xs" w={82} hideControls aria-label={`${v.path} to`} value={Number(shownIn(v.high, unit).toPrecision(6))} onChange={(x) => edit(k, { high: back(x) })} />
              <span className="unit">{symbol(unit.symbol)}</span>
              {way === 'grid' && <NumberInput size="xs" w={52} min={1} max={200} hideControls aria-label={`${v.path} how many`} value={v.count} onChange={(x) => edit(k, { count: Math.max(1, Number(x)) })} />}
              <ActionIcon size="xs" variant="subtle" color="gray" aria-label={`Do not vary ${v.path}`} onClick={() => setVary(vary.filter((_, i) => i !== k))}><Icon name="close" size={11} /></ActionIcon>
            </div>
          )
        })}
        <Select size="xs" searchable placeholder="Add a parameter …" aria-label="Add a parameter to the study" value={null} limit={60} onChange={add} data={parameters.map((q) => q.path)} comboboxProps={{ withinPortal: true }} />
        <h2>What is asked of each run</h2>
        {outputs.map((o) => <div key={o} className="study-row"><span className="study-name">{o}</span><ActionIcon size="xs" variant="subtle" color="gray" aria-label={`Do not ask for ${o}`} onClick={() => setOutputs(outputs.filter((x) => x !== o))}><Icon name="close" size={11} /></ActionIcon></div>)}
        <div className="study-row">
          <Select size="xs" w={84} aria-label="How a result is taken" value={kind} allowDeselect={false} onChange={(v) => setKind(v!)} data={['final', 'max', 'min', 'mean']} comboboxProps={{ withinPortal: true }} />
          <Select size="xs" className="grow" searchable placeholder="Add a result …" aria-label="Add a result to the study" value={null} limit={60} data={signals} comboboxProps={{ withinPortal: true }}
            onChange={(v) => v && !outputs.includes(`${kind}(${v})`) && setOutputs([...outputs, `${kind}(${v})`])} />
        </div>
        <div className="study-row">
          <Select size="xs" w={170} aria-label="Kind of study" value={way} allowDeselect={false} onChange={(v) => setWay(v!)} data={[{ value: 'grid', label: 'all combinations' }, { value: 'draws', label: 'random draws' }]} comboboxProps={{ withinPortal: true }} />
          {way === 'draws' && <TextInput size="xs" w={70} aria-label="Number of draws" value={draws} onChange={(e) => setDraws(Math.max(1, Number(e.currentTarget.value) || 1))} />}
          <span className="grow" />
          <Button size="xs" disabled={!vary.length || !outputs.length || study?.state === 'running'} onClick={run}>Run {cases || ''} cases</Button>
        </div>
      </section>
      {study ? <Found study={study} /> : <div className="hint">Choose what varies and what is asked: every case becomes a row here.</div>}
    </>
  )
}

const spread = (v: Vary): number[] => (v.count < 2 ? [v.low] : Array.from({ length: v.count }, (_, k) => Number((v.low + ((v.high - v.low) * k) / (v.count - 1)).toPrecision(10))))

function Found({ study }: { study: Study }) {
  const [sort, setSort] = useState<[number, number]>([-1, 1])
  const inUnits = study.inputs.map((p) => unitFor(p, quantity(p)?.unit ?? ''))
  const outUnits = study.units.map((u, k) => unitFor(study.outputs[k].replace(/^\w+\((.*)\)$/, '$1'), u))
  const value = (k: number) => (r: Study['rows'][number]): number => (k < 0 ? r.number : k < study.inputs.length ? r.values[k] : (r.results[k - study.inputs.length] ?? NaN))
  const rows = [...study.rows].sort((a, b) => sort[1] * (value(sort[0])(a) - value(sort[0])(b)))
  const head = (k: number, text: string, unit: string) => <th key={k} aria-sort={sort[0] === k ? (sort[1] > 0 ? 'ascending' : 'descending') : 'none'}><button onClick={() => setSort([k, sort[0] === k ? -sort[1] : 1])}>{text}{unit && <span className="dim"> {unit}</span>}</button></th>
  return (
    <section className="study-found" aria-label="Results of the study">
      <div className="study-head">
        <h2>{study.state === 'running' ? `${study.rows.length} of ${study.total || '…'} cases` : study.message || study.state}</h2><span className="grow" />
        {study.state === 'running' && <Button size="compact-xs" color="red" variant="light" onClick={() => link.ask('cancel_study', { study: study.id }).catch(refuse)}>Cancel</Button>}
        {study.rows.length > 0 && <Button size="compact-xs" variant="light" onClick={() => saveTable(study)}>CSV</Button>}
      </div>
      {study.problems.map((p, k) => <p key={k} role="alert" className="field-wrong">{p.what} {p.remedy}</p>)}
      {study.rows.length > 1 && <Picture study={study} />}
      <ScrollArea className="study-table" type="auto">
        <table className="event-table"><thead><tr>{head(-1, '#', '')}{study.inputs.map((n, k) => head(k, n, symbol(inUnits[k].symbol)))}{study.outputs.map((n, k) => head(study.inputs.length + k, n, symbol(outUnits[k]?.symbol ?? '')))}</tr></thead>
          <tbody>{rows.map((r) => (
            <tr key={r.number} title={r.message}><td>{r.number + 1}</td>{r.values.map((v, k) => <td key={k}>{number(shownIn(v, inUnits[k]))}</td>)}
              {r.state === 'finished' ? r.results.map((v, k) => <td key={k}>{v === null ? '–' : number(shownIn(v, outUnits[k]))}</td>) : <td colSpan={study.outputs.length} className="bad">{r.state}</td>}</tr>
          ))}</tbody></table>
      </ScrollArea>
    </section>
  )
}

// The first result over the first input, a point for each case.
function Picture({ study }: { study: Study }) {
  const box = useRef<HTMLDivElement>(null)
  const [x, y] = [unitFor(study.inputs[0], quantity(study.inputs[0])?.unit ?? ''), unitFor(study.outputs[0].replace(/^\w+\((.*)\)$/, '$1'), study.units[0] ?? '')]
  useEffect(() => {
    const points = study.rows.filter((r) => r.results[0] !== null && r.state === 'finished').map((r) => [shownIn(r.values[0], x), shownIn(r.results[0]!, y)]).sort((a, b) => a[0] - b[0])
    const ink = getComputedStyle(document.documentElement).getPropertyValue('--dim')
    const grid = { stroke: getComputedStyle(document.documentElement).getPropertyValue('--line'), width: 1 }
    const axis = (label: string): uPlot.Axis => ({ label, stroke: ink, grid, labelSize: 18, font: '11px sans-serif', labelFont: '11px sans-serif', values: (_u, at) => at.map((v) => number(v, 6)) })
    const u = new uPlot({
      width: box.current!.clientWidth, height: 190, scales: { x: { time: false }, y: { range: (_u, low, high) => padded(low, high) } }, legend: { show: false }, axes: [axis(`${study.inputs[0]} ${symbol(x.symbol)}`), { ...axis(`${study.outputs[0]} ${symbol(y.symbol)}`), size: 62 }],
      series: [{}, { stroke: '#1971c2', width: study.inputs.length === 1 ? 1.5 : 0, points: { show: true, size: 6, fill: '#1971c2' } }],
    }, [points.map((p) => p[0]), points.map((p) => p[1])], box.current!)
    return () => u.destroy()
  }, [study, x.symbol, y.symbol])
  return <div ref={box} className="study-picture" role="img" aria-label={`${study.outputs[0]} over ${study.inputs[0]}`} />
}

function saveTable(study: Study): void {
  const lines = [[...study.inputs, ...study.outputs, 'outcome'], ...study.rows.map((r) => [...r.values, ...r.results.map((v) => v ?? ''), r.state])]
  save('study.csv', new Blob([lines.map((l) => l.join(',')).join('\n') + '\n'], { type: 'text/csv' }))
}
