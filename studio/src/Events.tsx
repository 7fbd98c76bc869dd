// States of the plant over time, and what happened when.
import { ScrollArea } from '@mantine/core'
import { useEffect, useState } from 'react'
import { count, number, shownIn, symbol, time } from './format'
import { NotYet, Segments } from './Light'
import type { EventList, InitialRow } from './protocol'
import { isGoing, link, refuse, shownUnit, useStudio } from './store'

const HUES = [210, 28, 130, 285, 340, 185, 60, 255]

const KINDS = [{ value: 'events', label: 'States and events' }, { value: 'start', label: 'Start values' }]
export function Events() {
  const [kind, setKind] = useState('events')
  return (
    <div className="events-view">
      <Segments value={kind} onChange={setKind} data={KINDS} label="What is listed of the run" />
      {kind === 'events' ? <Happened /> : <Starts />}
    </div>
  )
}

// What each start value aimed at, and with what the run began.
function Starts() {
  const run = useStudio((s) => s.runs.find((r) => r.id === s.current))
  useStudio((s) => s.units)
  const [rows, setRows] = useState<InitialRow[] | null>(null)
  useEffect(() => {
    setRows(null)
    if (run && !isGoing(run) && run.points) link.ask('initial', { run: run.id }).then(setRows).catch(refuse)
  }, [run?.id, run?.state])
  if (!run || isGoing(run)) return <div className="hint"><NotYet what="start values" when="when it ends" /></div>
  if (!rows) return <div className="hint">{run.points ? 'Comparing start values …' : 'This run did not begin: there is nothing to compare.'}</div>
  return (
    <ScrollArea className="events" type="auto">
      <table className="event-table" aria-label="Start values">
        <thead><tr><th>quantity</th><th>target</th><th>found</th><th>difference</th><th>unit</th><th></th></tr></thead>
        <tbody>{rows.map((r) => {
          const unit = shownUnit(r.unit, r.difference)
          const off = unit.factor * (r.found - r.target)
          const far = Math.abs(r.found - r.target) > 1e-6 * (Math.abs(r.target) + Math.abs(r.found))
          return <tr key={r.path} onClick={() => useStudio.setState({ variable: r.path })}><td>{r.path}</td><td>{number(shownIn(r.target, unit))}</td><td>{number(shownIn(r.found, unit))}</td><td className={far && r.fixed ? 'bad' : ''}>{far ? number(off, 3) : '–'}</td><td className="dim">{symbol(unit.symbol)}</td><td className="dim">{r.fixed ? 'required' : 'a guess'}</td></tr>
        })}</tbody>
      </table>
    </ScrollArea>
  )
}

function Happened() {
  const run = useStudio((s) => s.runs.find((r) => r.id === s.current))
  const t = useStudio((s) => s.time)
  const [found, setFound] = useState<EventList | null>(null)
  useEffect(() => {
    setFound(null)
    if (run && !isGoing(run)) link.ask('events', { run: run.id }).then(setFound).catch(refuse)
  }, [run?.id, run?.state])
  if (!run || isGoing(run)) return <div className="hint"><NotYet what="states and events" when="when it ends" /></div>
  if (!found) return <div className="hint">Looking through the events …</div>
  const end = run.time || 1
  return (
    <ScrollArea className="events" type="auto">
      {found.states.length > 0 && (
        <section aria-label="States over time">
          <h2>States at {time(t, end)}</h2>
          <table className="states"><tbody>
            {found.states.map((line) => {
              const now = line.bands.find((b) => b.start <= t && t < b.end) ?? line.bands.at(-1)
              return (
                <tr key={line.path}>
                  <th scope="row">{line.path}</th>
                  <td className="state-now">{now && <span className="chip" style={hue(line.states.indexOf(now.state))}>{now.state}</span>}</td>
                  <td className="state-since">{now && (now.start > 0 ? <>since {time(now.start, end)}{now.cause && <small title={now.cause}>{now.cause}</small>}</> : 'from the start')}</td>
                  <td className="state-line"><svg viewBox="0 0 1000 14" preserveAspectRatio="none" role="img" aria-label={`${line.path} over time`} onClick={(e) => { const b = e.currentTarget.getBoundingClientRect(); useStudio.setState({ time: ((e.clientX - b.left) / b.width) * end }) }}>
                    {line.bands.map((b, k) => <rect key={k} x={(1000 * b.start) / end} width={Math.max(0.8, (1000 * (b.end - b.start)) / end)} y={0} height={14} style={{ fill: hue(line.states.indexOf(b.state)).background }}><title>{`${b.state}, ${time(b.start, end)} – ${time(b.end, end)}${b.cause ? `\n${b.cause}` : ''}`}</title></rect>)}
                    <line x1={(1000 * t) / end} x2={(1000 * t) / end} y1={0} y2={14} className="now-line" />
                  </svg></td>
                </tr>
              )
            })}
          </tbody></table>
        </section>
      )}
      <h2>{found.count ? count(found.count, 'event') : 'No events: nothing switched during this run.'}</h2>
      {found.count > 0 && (
        <table className="event-table">
          <thead><tr><th>time</th><th>component</th><th>because</th><th>changed</th><th>where</th></tr></thead>
          <tbody>{found.rows.map((e, k) => (
            <tr key={k} className={Math.abs(e.time - t) < 1e-9 * end ? 'chosen' : ''} onClick={() => useStudio.setState({ time: e.time })}>
              <td>{time(e.time, end)}</td><td>{e.component.split(' (')[0]}</td><td><code>{e.cause}</code></td><td>{e.changes.map((c) => <div key={c}>{c}</div>)}</td><td className="dim">{e.place}</td>
            </tr>
          ))}</tbody>
        </table>
      )}
      {found.count > found.rows.length && <p className="dim">The first {found.rows.length} are shown.</p>}
    </ScrollArea>
  )
}

const hue = (k: number): { background: string } => ({ background: k < 0 ? '#adb5bd' : `hsl(${HUES[k % HUES.length]} 62% 58%)` })
