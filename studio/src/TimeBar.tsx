// The time that everything shows: a slider that plays.
import { ActionIcon, Slider, Tooltip } from '@mantine/core'
import { useEffect } from 'react'
import { time } from './format'
import { Icon } from './icons'
import { useStudio } from './store'

const LENGTH = 10 // seconds in which a run is played

export function TimeBar() {
  const run = useStudio((s) => s.runs.find((r) => r.id === s.current))
  const t = useStudio((s) => s.time)
  const playing = useStudio((s) => s.playing)
  const begin = Number(run?.case.start) || 0
  const end = run?.time || 0
  useEffect(() => {
    if (!playing || end <= begin) return
    let before = performance.now()
    let frame = requestAnimationFrame(function step(now) {
      const next = useStudio.getState().time + ((now - before) / 1000 / LENGTH) * (end - begin)
      before = now
      useStudio.setState(next >= end ? { time: end, playing: false } : { time: next })
      if (next < end) frame = requestAnimationFrame(step)
    })
    return () => cancelAnimationFrame(frame)
  }, [playing, begin, end])
  if (!run || end <= begin) return null
  return (
    <div className="time">
      <Tooltip label={playing ? 'Pause (space)' : 'Play (space)'}>
        <ActionIcon size={24} variant="light" aria-label={playing ? 'Pause' : 'Play'} onClick={() => useStudio.setState({ playing: !playing, time: t >= end ? begin : t })}><Icon name={playing ? 'pause' : 'play'} size={13} filled={!playing} /></ActionIcon>
      </Tooltip>
      <Slider className="grow" size={4} thumbSize={14} min={begin} max={end} step={(end - begin) / 2000} value={Math.min(end, Math.max(begin, t))} label={null} thumbLabel="Time" onChange={(v) => useStudio.setState({ time: v, playing: false })} />
      <output className="time-now" aria-label="Time shown">{time(t, end - begin)}</output>
    </div>
  )
}
