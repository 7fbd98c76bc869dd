// Parameters from measured data: which file, which parameters, between which bounds; what was found, and what is left.
import { ActionIcon, Button, NumberInput, ScrollArea, Select } from '@mantine/core'
import { useEffect, useMemo, useRef, useState } from 'react'
import uPlot from 'uplot'
import { number, plain, shownIn, symbol } from './format'
import { Icon } from './icons'
import { FileChoice, useFiles } from './Inputs'
import type { Fit, FitCurve } from './protocol'
import { change, link, quantity, refuse, unitFor, useStudio } from './store'

interface Free {
  path: string
  low: number | null
  high: number | null
}

export function Fits() {
  const model = useStudio((s) => s.model)!
  const draft = useStudio((s) => s.draft)
  const fit = useStudio((s) => s.fit)
  useStudio((s) => s.units)
  const [files, bring] = useFiles()
  const [file, setFile] = useState('')
  const [free, setFree] = useState<Free[]>([])
  const parameters = useMemo(() => model.parts.flatMap((p) => p.quantities.filter((q) => ((q.role === 'parameter' && typeof q.value === 'number') || q.state) && !q.shape.length)), [model])
  const columns = files.find((f) => f.path === file)?.columns ?? []
  const edit = (k: number, what: Partial<Free>) => setFree(free.map((v, i) => (i === k ? { ...v, ...what } : v)))
  const add = (path: string | null) => {
    const q = parameters.find((x) => x.path === path)
    if (q && !free.some((f) => f.path === path)) setFree([...free, { path: q.path, low: q.minimum, high: q.maximum }])
  }
  const run = () => { link.ask('fit', { case: draft, file, free: Object.fromEntries(free.map((f) => [plain(f.path), [f.low, f.high]])) }).then((f) => useStudio.setState({ fit: f })).catch(refuse) }
  return (
    <>
      <section className="study-form" aria-label="New fit">
        <h2>Measured data</h2>
        <FileChoice files={files} value={file} choose={setFile} bring={async (f) => { const made = await bring(f); if (made) setFile(made.path) }} />
        {file && <p className="dim">{columns.length ? `Columns: ${columns.join(', ')}. Their names are paths of the model, with units in brackets; columns of inputs drive it.` : 'This file has no columns.'}</p>}
        <h2>What is looked for, and between which bounds</h2>
        {free.map((v, k) => {
          const unit = unitFor(v.path, quantity(v.path)?.unit ?? '')
          const shown = (x: number | null) => (x === null ? '' : Number(shownIn(x, unit).toPrecision(6)))
          const back = (x: number | string) => (x === '' ? null : (Number(x) - unit.offset) / unit.factor)
          return (
            <div key={v.path} className="study-row">
              <span className="study-name" title={v.path}>{v.path}</span>
              <NumberInput size="xs" w={82} hideControls placeholder="none" aria-label={`${v.path} at least`} value={shown(v.low)} onChange={(x) => edit(k, { low: back(x) })} />
              <NumberInput size="xs" w={82} hideControls placeholder="none" aria-label={`${v.path} at most`} value={shown(v.high)} onChange={(x) => edit(k, { high: back(x) })} />
              <span className="unit">{symbol(unit.symbol)}</span>
              <ActionIcon size="xs" variant="subtle" color="gray" aria-label={`Do not fit ${v.path}`} onClick={() => setFree(free.filter((_, i) => i !== k))}><Icon name="close" size={11} /></ActionIcon>
            </div>
          )
        })}
        <Select size="xs" searchable placeholder="Add a parameter or a start value …" aria-label="Add a parameter to the fit" value={null} limit={60} onChange={add} data={parameters.map((q) => q.path)} comboboxProps={{ withinPortal: true }} />
        <div className="study-row"><span className="grow" /><Button size="xs" disabled={!file || !free.length || fit?.state === 'running'} onClick={run}>Fit</Button></div>
      </section>
      {fit ? <Found fit={fit} /> : <div className="hint">Choose a file and what is looked for: the model is fitted by least squares, with exact derivatives.</div>}
    </>
  )
}

function Found({ fit }: { fit: Fit }) {
  const use = () => fit.rows.forEach((r, k) => change('set', r.path, Number(r.value.toPrecision(8)), k === fit.rows.length - 1))
  return (
    <section className="study-found" aria-label="What the fit found">
      <div className="study-head"><h2 role="status">{fit.state === 'running' ? 'Fitting …' : fit.message || fit.state}</h2><span className="grow" />{fit.rows.length > 0 && <Button size="compact-xs" variant="light" onClick={use}>Use these values</Button>}</div>
      {fit.problems.map((p, k) => <p key={k} role="alert" className="field-wrong">{p.what} {p.remedy}</p>)}
      {fit.told.map((t) => <p key={t} className="bad">{t}</p>)}
      {fit.rows.length > 0 && (
        <table className="event-table"><thead><tr><th>parameter</th><th>before</th><th>found</th><th>± (standard error)</th><th>unit</th></tr></thead>
          <tbody>{fit.rows.map((r) => {
            const unit = unitFor(r.path, quantity(r.path)?.unit ?? '')
            return <tr key={r.path}><td>{r.path}</td><td>{r.before === null ? '–' : number(shownIn(r.before, unit))}</td><td><b>{number(shownIn(r.value, unit), 6)}</b></td><td>{r.deviation === null ? '–' : number(Math.abs(unit.factor) * r.deviation, 3)}</td><td className="dim">{symbol(unit.symbol)}</td></tr>
          })}</tbody></table>
      )}
      <ScrollArea className="study-table" type="auto">{fit.curves.map((c) => <Curve key={c.name} curve={c} />)}</ScrollArea>
    </section>
  )
}

// Measured points, the computed curve, and below them what is left.
function Curve({ curve }: { curve: FitCurve }) {
  const box = useRef<HTMLDivElement>(null)
  const unit = unitFor(curve.name, curve.unit)
  useEffect(() => {
    const style = getComputedStyle(document.documentElement)
    const ink = style.getPropertyValue('--dim')
    const grid = { stroke: style.getPropertyValue('--line'), width: 1 }
    const axis = (label: string): uPlot.Axis => ({ label, stroke: ink, grid, labelSize: 18, size: 56, font: '11px sans-serif', labelFont: '11px sans-serif', values: (_u, at) => at.map((v) => number(v, 6)) })
    const [m, c] = [curve.measured, curve.computed].map((vs) => vs.map((v) => (v === null ? null : shownIn(v, unit))))
    const left = m.map((v, k) => (v === null || c[k] === null ? null : v - c[k]!))
    const plots = [
      new uPlot({ width: box.current!.clientWidth, height: 180, scales: { x: { time: false } }, legend: { show: false }, axes: [{ ...axis(''), labelSize: 0, size: 26 }, axis(`${curve.name} ${symbol(unit.symbol)}`)],
        series: [{}, { stroke: '#868e96', width: 0, points: { show: true, size: 4, fill: '#868e96' } }, { stroke: '#1971c2', width: 1.8, points: { show: false } }] }, [curve.time, m, c], box.current!),
      new uPlot({ width: box.current!.clientWidth, height: 110, scales: { x: { time: false } }, legend: { show: false }, axes: [{ ...axis('s'), size: 26 }, axis('residual')],
        series: [{}, { stroke: '#d9480f', width: 1.2, points: { show: false } }] }, [curve.time, left], box.current!),
    ]
    return () => plots.forEach((u) => u.destroy())
  }, [curve, unit.symbol])
  return <div ref={box} className="study-picture" role="img" aria-label={`${curve.name}: measured, computed, and the difference`} />
}
