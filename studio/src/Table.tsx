// What is drawn, as numbers: a line for each time of the run; only those in sight are made.
import { useEffect, useRef, useState } from 'react'
import { clock, number, shownIn, symbol } from './format'
import { NotYet } from './Light'
import { indexAt } from './pyramid'
import { need, seriesOf, unitFor, useStudio } from './store'

const ROW = 24
const SPARE = 12 // lines above and below the window, so that scrolling shows no gaps

export function Table() {
  const panels = useStudio((s) => s.panels)
  const run = useStudio((s) => s.current)
  const state = useStudio((s) => s.runs.find((r) => r.id === s.current)?.state)
  const time = useStudio((s) => s.time)
  useStudio((s) => s.version)
  useStudio((s) => s.units)
  const box = useRef<HTMLDivElement>(null)
  const [top, setTop] = useState(0)
  const names = [...new Set(panels.flatMap((p) => p.names))]
  useEffect(() => need(run, names), [run, state, names.join()])
  const series = names.flatMap((name) => { const found = seriesOf(run, name); return found ? [{ name, found, unit: unitFor(name, found.unit) }] : [] })
  const x = series[0]?.found.x ?? new Float64Array()
  const now = x.length ? indexAt(x, time) : -1
  useEffect(() => { // the slider leads; who scrolls is left where he is
    const window = box.current
    if (window && now >= 0 && (now * ROW < window.scrollTop || (now + 2) * ROW > window.scrollTop + window.clientHeight)) window.scrollTop = Math.max(0, now * ROW - window.clientHeight / 2)
  }, [now])
  if (!series.length) return <div className="hint">{!run ? <NotYet what="its values" when="with the first of them" /> : names.length ? 'No values yet.' : 'Tick signals in the list on the left: they are listed here.'}</div>
  const [factor, unit] = clock(x[x.length - 1] - x[0])
  const first = Math.max(0, Math.floor(top / ROW) - SPARE)
  const last = Math.min(x.length, first + Math.ceil((box.current?.clientHeight ?? 800) / ROW) + 2 * SPARE)
  return (
    <div className="values" ref={box} onScroll={(e) => setTop(e.currentTarget.scrollTop)}>
      <table className="event-table" aria-label="Values over time" aria-rowcount={x.length + 1}>
        <thead><tr><th>time <span className="dim">{unit}</span></th>{series.map(({ name, unit }) => <th key={name}>{name} <span className="dim">{symbol(unit.symbol)}</span></th>)}</tr></thead>
        <tbody>
          {first > 0 && <tr style={{ height: first * ROW }}><td colSpan={series.length + 1} /></tr>}
          {Array.from({ length: last - first }, (_, i) => first + i).map((k) => (
            <tr key={k} aria-rowindex={k + 2} aria-current={k === now || undefined} className={k === now ? 'now' : ''} style={{ height: ROW }} onClick={() => useStudio.setState({ time: x[k] })}>
              <td>{number(x[k] / factor, 7)}</td>
              {series.map(({ name, found, unit }) => <td key={name}>{found.states.length ? (found.states[found.pyramid.y[k]] ?? '–') : number(shownIn(found.pyramid.y[k], unit), 6)}</td>)}
            </tr>
          ))}
          {last < x.length && <tr style={{ height: (x.length - last) * ROW }}><td colSpan={series.length + 1} /></tr>}
        </tbody>
      </table>
    </div>
  )
}
