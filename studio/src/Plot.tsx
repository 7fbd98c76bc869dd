// One panel of curves. uPlot draws; the pyramid hands it no more points than there are pixels.
import { ActionIcon, Tooltip, UnstyledButton, useComputedColorScheme } from '@mantine/core'
import { useEffect, useMemo, useRef, useState } from 'react'
import uPlot from 'uplot'
import 'uplot/dist/uPlot.min.css'
import { curve, paint } from './columns'
import { clock, number, shownIn, symbol } from './format'
import { Icon } from './icons'
import { NotYet } from './Light'
import { indexAt, shown, times } from './pyramid'
import { type Panel, type Series, addPanel, need, plot, removePanel, saidOf, seriesOf, toggleOverlay, unitFor, unplot, unitOf, useStudio } from './store'
import { INK_DARK, INK_LIGHT } from './theme'

interface Curve {
  key: string
  name: string
  run: string
  label: string
  color: string
  dash: number[]
  series: Series
}

const DASHES = [[], [6, 4], [2, 3], [8, 3, 2, 3], [1, 4]]
const syncKey = uPlot.sync('studio')

export function PlotPanel({ panel, last }: { panel: Panel; last: boolean }) {
  const dark = useComputedColorScheme('light') === 'dark'
  const current = useStudio((s) => s.current)
  const overlay = useStudio((s) => s.overlay)
  const version = useStudio((s) => s.version)
  const runs = useStudio((s) => s.runs)
  const units = useStudio((s) => s.units)
  const [over, setOver] = useState(false)
  const shownRuns = useMemo(() => [current, ...overlay.filter((r) => r !== current)].filter(Boolean), [current, overlay])
  useEffect(() => shownRuns.forEach((r) => need(r, panel.names)), [shownRuns, panel.names, runs])
  const ink = dark ? INK_DARK : INK_LIGHT
  const curves = useMemo(() => {
    const found: Curve[] = []
    shownRuns.forEach((run, r) => panel.names.forEach((name, k) => {
      const series = seriesOf(run, name)
      const number = runs.find((x) => x.id === run)?.number
      if (series) found.push({ key: `${run} ${name}`, name, run, label: shownRuns.length > 1 ? `${name} #${number}` : name, color: ink[k % ink.length], dash: DASHES[r % DASHES.length], series })
    }))
    return found
  }, [shownRuns, panel.names, version, ink, runs])
  return (
    <section
      className={over ? 'panel over' : 'panel'} aria-label={`Plot of ${panel.names.join(', ') || 'nothing yet'}`}
      onDragOver={(e) => { e.preventDefault(); setOver(true) }} onDragLeave={() => setOver(false)}
      onDrop={(e) => { e.preventDefault(); setOver(false); const n = e.dataTransfer.getData('text/acausal'); if (n) plot(n, panel.id); const r = e.dataTransfer.getData('text/acausal-run'); if (r && r !== current && !overlay.includes(r)) toggleOverlay(r) }}
    >
      <div className="legend">
        {panel.names.map((n, k) => <Entry key={n} name={n} color={ink[k % ink.length]} panel={panel.id} run={current} />)}
        {shownRuns.length > 1 && shownRuns.map((id, r) => { const run = runs.find((x) => x.id === id); return <span key={id} className="entry dim"><svg width={22} height={6} aria-hidden="true"><line x1={0} x2={22} y1={3} y2={3} stroke="currentColor" strokeWidth={1.6} strokeDasharray={DASHES[r % DASHES.length].join(' ')} /></svg>#{run?.number} {run && saidOf(run)}</span> })}
        <Tooltip label="Close this panel"><ActionIcon className="legend-close" size="xs" variant="subtle" color="gray" aria-label="Close panel" onClick={() => removePanel(panel.id)}><Icon name="close" size={12} /></ActionIcon></Tooltip>
      </div>
      {panel.names.length === 0 ? <div className="hint">Drag a signal here, or tick it in the list on the left.</div>
        : curves.length === 0 ? <div className="hint">{!current ? <NotYet what="curves" when="with the first values" /> : runs.find((r) => r.id === current)?.points ? 'No values yet.' : 'This run has no values.'}</div>
          : <Canvas curves={curves} dark={dark} last={last} unitsKey={JSON.stringify(units)} />}
    </section>
  )
}

function Entry({ name, color, panel, run }: { name: string; color: string; panel: number; run: string }) {
  const t = useStudio((s) => s.time)
  useStudio((s) => s.version)
  const found = seriesOf(run, name)
  const unit = unitFor(name, found?.unit ?? unitOf(name))
  const value = found ? found.pyramid.y[indexAt(found.x, t)] : NaN
  const text = found?.states.length ? (found.states[value] ?? '') : `${number(shownIn(value, unit), 5)} ${symbol(unit.symbol)}`
  return (
    <span className="entry">
      <i style={{ background: color }} />
      <UnstyledButton className="entry-name" aria-label={`Explain ${name}`} onClick={() => useStudio.setState({ variable: name })}>{name}</UnstyledButton>
      <span className="entry-value">{found ? text : ''}</span>
      <UnstyledButton className="entry-close" aria-label={`Remove ${name} from the plot`} onClick={() => unplot(name, panel)}>×</UnstyledButton>
    </span>
  )
}

function Canvas({ curves, dark, last, unitsKey }: { curves: Curve[]; dark: boolean; last: boolean; unitsKey: string }) {
  const place = useRef<HTMLDivElement>(null)
  const held = useRef<{ u: uPlot; curves: Curve[] } | null>(null)
  const zoom = useStudio((s) => s.zoom)
  const structure = curves.map((c) => `${c.name}|${c.color}|${c.dash}|${c.run === curves[0].run}|${c.series.unit}`).join() + dark + last + unitsKey

  useEffect(() => {
    const box = place.current!
    const made = make(box, curves, dark, () => held.current!.curves)
    held.current = { u: made, curves }
    refresh(held.current)
    const watch = new ResizeObserver(() => made.setSize({ width: box.clientWidth, height: box.clientHeight }))
    watch.observe(box)
    return () => {
      watch.disconnect()
      made.destroy()
      held.current = null
    }
  }, [structure])

  useEffect(() => {
    if (!held.current) return
    held.current.curves = curves
    refresh(held.current)
    requestAnimationFrame(() => performance.mark('acausal:drawn'))
  }, [curves, zoom])
  return <div className="canvas" ref={place} role="img" aria-label={`Curves of ${curves.map((c) => c.label).join(', ')}`} />
}

// --- from curves to uPlot --------------------------------------------------------------------------------------------------------
const extent = (curves: Curve[]): [number, number] => {
  let low = Infinity
  let high = -Infinity
  for (const { series: { x } } of curves) if (x.length) [low, high] = [Math.min(low, x[0]), Math.max(high, x[x.length - 1])]
  return low < high ? [low, high] : [0, 1]
}

// Curves of one run share their times; those of another run have their own, so that the tables are joined.
function refresh({ u, curves }: { u: uPlot; curves: Curve[] }): void {
  const [low, high] = useStudio.getState().zoom ?? extent(curves)
  const width = Math.max(200, u.bbox.width / devicePixelRatio)
  const tables: uPlot.AlignedData[] = []
  for (let k = 0; k < curves.length; ) {
    const { x } = curves[k].series
    const range = shown(x, low, high, width)
    const table: any[] = [times(x, range)]
    for (; k < curves.length && curves[k].series.x === x; k++) {
      const unit = unitFor(curves[k].name, curves[k].series.unit)
      const y = curves[k].series.pyramid.pick(range)
      table.push(unit.factor === 1 && unit.offset === 0 ? y : y.map((v) => v * unit.factor + unit.offset))
    }
    tables.push(table as unknown as uPlot.AlignedData)
  }
  const data = tables.length === 1 ? tables[0] : uPlot.join(tables)
  u.batch(() => {
    u.setData(data, false)
    u.setScale('x', { min: low, max: high })
    for (const key of Object.keys(u.scales)) if (key !== 'x') u.setScale(key, { min: null as any, max: null as any })
  })
}

function make(box: HTMLDivElement, curves: Curve[], dark: boolean, now: () => Curve[]): uPlot {
  const grid = { stroke: dark ? '#2c2e33' : '#eceff2', width: 1 }
  const ticks = { stroke: dark ? '#3b3d42' : '#dee2e6', width: 1, size: 4 }
  const font = '11px Inter, "Segoe UI", system-ui, "DejaVu Sans", sans-serif'
  const ink = dark ? '#a6a7ab' : '#5c636a'
  const scaleOf = (c: Curve): string => (c.series.states.length ? `states ${c.series.states.join()}` : unitFor(c.name, c.series.unit).symbol || '1')
  const keys = [...new Set(curves.map(scaleOf))]
  const scales: uPlot.Scales = { x: { time: false } }
  for (const key of keys) {
    const states = curves.find((c) => scaleOf(c) === key)!.series.states
    scales[key] = states.length ? { range: [-0.2, states.length - 0.8] } : { range: (_u, low, high) => padded(low, high) }
  }
  const axes: uPlot.Axis[] = [{
    stroke: ink, grid, ticks, font, size: 32, gap: 3,
    splits: (_u, _i, low, high) => roundTimes(low, high, box.clientWidth),
    values: (_u, at) => timeLabels(at),
  }]
  keys.forEach((key, k) => {
    const { series } = curves.find((c) => scaleOf(c) === key)!
    const states = series.states
    const own = keys.length > 1 ? curves.find((c) => scaleOf(c) === key)!.color : ink
    axes.push({
      scale: key, side: k % 2 ? 1 : 3, stroke: own, grid: k ? { show: false } : grid, ticks, font, size: 58 + (states.length || !series.unit ? 16 : 0), gap: 4,
      label: states.length ? undefined : symbol(key === '1' ? '' : key), labelFont: font, labelSize: states.length || !series.unit ? 0 : 16, labelGap: 0,
      splits: states.length ? () => states.map((_, i) => i) : undefined,
      values: states.length ? (_u, at) => at.map((v) => states[v] ?? '') : (_u, at) => at.map((v) => number(v, 6)),
    })
  })
  return new uPlot({
    width: box.clientWidth, height: box.clientHeight, scales, axes, legend: { show: false }, padding: [8, 32, 0, 4],
    cursor: { sync: { key: syncKey.key, setSeries: false }, drag: { x: true, y: false, setScale: false }, points: { size: 6 } },
    series: [{}, ...curves.map((c): uPlot.Series => ({
      label: c.label, stroke: c.color, width: 1.5, dash: c.dash, scale: scaleOf(c), points: { show: false }, spanGaps: true,
      paths: curve(c.series.states.length > 0),
    }))],
    hooks: {
      setSelect: [(u) => {
        if (u.select.width < 4) return
        useStudio.setState({ zoom: [u.posToVal(u.select.left, 'x'), u.posToVal(u.select.left + u.select.width, 'x')] })
        u.setSelect({ left: 0, top: 0, width: 0, height: 0 }, false)
      }],
      ready: [(u) => gestures(u, now)],
      drawSeries: [paint],
      draw: [(u) => marker(u, dark)],
    },
  }, [[]] as unknown as uPlot.AlignedData, box)
}

// The time that the diagram shows, as a line.
function marker(u: uPlot, dark: boolean): void {
  const t = useStudio.getState().time
  if (t < u.scales.x.min! || t > u.scales.x.max!) return
  const x = Math.round(u.valToPos(t, 'x', true)) + 0.5
  u.ctx.save()
  u.ctx.strokeStyle = dark ? '#ffd43b' : '#f08c00'
  u.ctx.lineWidth = devicePixelRatio
  u.ctx.setLineDash([])
  u.ctx.beginPath()
  u.ctx.moveTo(x, u.bbox.top)
  u.ctx.lineTo(x, u.bbox.top + u.bbox.height)
  u.ctx.stroke()
  u.ctx.restore()
}
useStudio.subscribe((s, before) => {
  if (s.time !== before.time) for (const u of syncKey.plots) u.redraw(false, false)
})

// Wheel zooms at the cursor, dragging selects, dragging with shift pans, a click sets the time, a double click shows everything.
function gestures(u: uPlot, now: () => Curve[]): void {
  let frame = 0
  const zoomTo = (zoom: [number, number] | null): void => { // once a frame, however many events there are
    wanted = zoom
    if (!frame) frame = requestAnimationFrame(() => { frame = 0; useStudio.setState({ zoom: wanted }) })
  }
  let wanted: [number, number] | null = null
  const limit = (low: number, high: number): void => {
    const [first, last] = extent(now())
    const width = Math.min(high - low, last - first)
    const from = Math.max(first, Math.min(low, last - width))
    zoomTo(width >= (last - first) * 0.999 ? null : [from, from + width])
  }
  u.over.addEventListener('wheel', (e) => {
    e.preventDefault()
    const [min, max] = frame && wanted ? wanted : [u.scales.x.min!, u.scales.x.max!]
    const at = min + ((max - min) * e.offsetX) / u.over.clientWidth
    const k = e.deltaY < 0 ? 0.8 : 1.25
    limit(at - (at - min) * k, at + (max - at) * k)
  }, { passive: false })
  u.over.addEventListener('dblclick', () => useStudio.setState({ zoom: null }))
  u.over.addEventListener('click', (e) => {
    if (Math.abs(e.clientX - pressed) < 3) useStudio.setState({ time: u.posToVal(e.offsetX, 'x'), playing: false })
  })
  let pressed = 0
  u.over.addEventListener('mousedown', (e) => {
    pressed = e.clientX
    if (!e.shiftKey) return
    e.preventDefault()
    e.stopImmediatePropagation()
    const { min, max } = u.scales.x
    const per = (max! - min!) / u.over.clientWidth
    const move = (m: MouseEvent) => limit(min! - (m.clientX - pressed) * per, max! - (m.clientX - pressed) * per)
    const up = () => { removeEventListener('mousemove', move); removeEventListener('mouseup', up) }
    addEventListener('mousemove', move)
    addEventListener('mouseup', up)
  }, { capture: true })
}

export const padded = (low: number, high: number): [number, number] => {
  if (!(high > low)) return [low - (Math.abs(low) * 0.05 || 1), high + (Math.abs(high) * 0.05 || 1)]
  return [low - 0.06 * (high - low), high + 0.06 * (high - low)]
}

const STEPS: Record<string, number[]> = {
  s: [1, 2, 5, 10, 15, 20, 30, 60, 120, 300], min: [1, 2, 5, 10, 15, 20, 30, 60], h: [1, 2, 3, 4, 6, 8, 12, 24, 48], day: [0.25, 0.5, 1, 2, 5, 7, 10, 14, 30, 60, 100, 365],
}
function roundTimes(low: number, high: number, width: number): number[] {
  const [factor, unit] = clock(high - low)
  const span = (high - low) / factor
  const wanted = span / Math.max(2, width / 90)
  const decade = 10 ** Math.floor(Math.log10(wanted))
  const step = STEPS[unit]?.find((s) => s >= wanted) ?? [1, 2, 5, 10].map((m) => m * decade).find((s) => s >= wanted)!
  const fine = wanted < (STEPS[unit]?.[0] ?? 0) / 2 ? [1, 2, 5, 10].map((m) => m * decade).find((s) => s >= wanted)! : step
  const out: number[] = []
  for (let k = Math.ceil(low / factor / fine - 1e-9); k * fine * factor <= high * (1 + 1e-12) + 1e-300; k++) out.push(k * fine * factor)
  return out
}
function timeLabels(at: number[]): string[] {
  if (!at.length) return []
  const [factor, unit] = clock(at.length > 1 ? at[at.length - 1] - at[0] : at[0])
  return at.map((t) => `${number(t / factor, 8)} ${unit}`)
}

// All panels, one below the other.
export function Plots() {
  const panels = useStudio((s) => s.panels)
  return (
    <div className="plots">
      {panels.map((p, k) => <PlotPanel key={p.id} panel={p} last={k === panels.length - 1} />)}
      <button className="add-panel" aria-label="Add a panel" title="Add a panel" onClick={() => addPanel()} onDragOver={(e) => e.preventDefault()}
        onDrop={(e) => { e.preventDefault(); const n = e.dataTransfer.getData('text/acausal'); if (n) addPanel([n]) }}><Icon name="plus" size={13} /> panel</button>
    </div>
  )
}
