// Pressure over enthalpy, temperature over entropy: the medium's isolines, and the plant on them at the time of the slider.
import { Select, useComputedColorScheme } from '@mantine/core'
import { useEffect, useRef, useState } from 'react'
import { type Drawn, drawLines, drawStates } from './chart'
import { NotYet, Segments } from './Light'
import { indexAt } from './pyramid'
import { isGoing, link, refuse, useStudio } from './store'

const KINDS = [{ value: 'ph', label: 'p–h' }, { value: 'Ts', label: 'T–s' }, { value: 'Tw', label: 'Psychrometric' }]
// Beside a chart stand the units of its axes.
const READ: Record<string, [string, (v: number) => string]> = {
  p: ['bar', (v) => (v / 1e5).toFixed(3)], T: ['°C', (v) => (v - 273.15).toFixed(2)], h: ['kJ/kg', (v) => (v / 1e3).toFixed(2)], s: ['kJ/(kg K)', (v) => (v / 1e3).toFixed(4)], x: ['', (v) => v.toFixed(3)], w: ['g/kg', (v) => v.toFixed(3)], m_flow: ['g/s', (v) => (v * 1e3).toFixed(2)],
}

export function Charts() {
  const circuits = useStudio((s) => s.model!.circuits)
  const run = useStudio((s) => s.runs.find((r) => r.id === s.current))
  const [medium, setMedium] = useState('')
  const [asked, setKind] = useState('ph')
  const [drawn, setDrawn] = useState<Drawn | null>(null)
  const [why, setWhy] = useState('')
  const chosen = circuits.some((c) => c.medium === medium) ? medium : (circuits[0]?.medium ?? '')
  const kinds = circuits.find((c) => c.medium === chosen)?.charts ?? []
  const kind = kinds.includes(asked) ? asked : (kinds[0] ?? '')
  const over = run && !isGoing(run) && run.points > 0
  useEffect(() => {
    let wanted = true
    setWhy('')
    if (!over || !chosen) return setDrawn(null)
    link.numbers('chart', { run: run.id, medium: chosen, kind })
      .then(({ answer, blocks }) => { if (wanted) setDrawn({ chart: answer, blocks }) })
      .catch((e) => { if (wanted) { setDrawn(null); setWhy(e.message); if (!e.problems) refuse(e) } })
    return () => { wanted = false }
  }, [run?.id, over, run?.time, chosen, kind])
  return (
    <div className="charts">
      <div className="charts-head">
        <Segments value={kind} onChange={setKind} data={KINDS.filter((k) => kinds.includes(k.value))} label="Kind of chart" />
        {circuits.length > 1 && <Select size="xs" w={130} aria-label="Medium" value={chosen} allowDeselect={false} onChange={(v) => setMedium(v!)} data={circuits.map((c) => c.medium)} comboboxProps={{ withinPortal: true }} />}
        {circuits.length === 1 && <span className="dim">{chosen}</span>}
      </div>
      {!over ? <div className="hint"><NotYet what="its states" when="when it ends" /></div> : why ? <div className="hint">{why}</div> : !drawn ? <div className="hint">Drawing the isolines of {chosen} …</div>
        : <div className="charts-body"><Picture drawn={drawn} /><States drawn={drawn} /></div>}
    </div>
  )
}

function Picture({ drawn }: { drawn: Drawn }) {
  const dark = useComputedColorScheme('light') === 'dark'
  const below = useRef<HTMLCanvasElement>(null)
  const above = useRef<HTMLCanvasElement>(null)
  useEffect(() => {
    const states = () => {
      const s = useStudio.getState()
      drawStates(above.current!, drawn, indexAt(drawn.blocks.times, s.time), s.selected, dark)
    }
    const all = () => { drawLines(below.current!, drawn, dark); states() }
    const watch = new ResizeObserver(all)
    watch.observe(below.current!)
    const stop = useStudio.subscribe((s, b) => { if (s.time !== b.time || s.selected !== b.selected) states() })
    return () => { watch.disconnect(); stop() }
  }, [drawn, dark])
  const kind = KINDS.find((k) => k.value === drawn.chart.kind)!.label
  return <div className="chart" role="img" aria-label={`${kind} chart of ${drawn.chart.medium} with ${drawn.chart.legs.length} parts`}><canvas ref={below} /><canvas ref={above} /></div>
}

function States({ drawn: { chart, blocks } }: { drawn: Drawn }) {
  const t = useStudio((s) => s.time)
  const [k, count, m] = [indexAt(blocks.times, t), blocks.times.length, chart.columns.length]
  return (
    <div className="chart-states">
      <table className="event-table" aria-label="States at the ports">
        <thead><tr><th>port</th>{chart.columns.map((c) => <th key={c}>{c === 'm_flow' ? 'ṁ' : c}<br /><span className="dim">{READ[c][0]}</span></th>)}</tr></thead>
        <tbody>{chart.ports.map((port, p) => (
          <tr key={port} onClick={() => useStudio.setState({ selected: port.split('.').slice(0, -1).join('.') })}><td>{port}</td>
            {chart.columns.map((c, j) => { const v = blocks.table[(p * m + j) * count + k]; return <td key={c}>{Number.isFinite(v) ? READ[c][1](v).replace(/^-(0\.?0*)$/, '$1') : '–'}</td> })}</tr>
        ))}</tbody>
      </table>
    </div>
  )
}
