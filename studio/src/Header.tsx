// The bar on top: which model, which case, how long, run.
import { ActionIcon, Button, Group, Menu, Modal, Popover, Progress, Select, Switch, TextInput, Tooltip, UnstyledButton, useComputedColorScheme, useMantineColorScheme } from '@mantine/core'
import { type HTMLAttributes, type ReactElement, type ReactNode, cloneElement, useEffect, useState } from 'react'
import { count, seconds, time } from './format'
import { Icon } from './icons'
import type { Run } from './protocol'
import { chartPng, diagramSvg, save } from './pictures'
import { adjust, canGoOn, cancel, choose, goOn, isGoing, keep, link, look, refuse, saidOf, saveCase, start, toggleOverlay, useStudio } from './store'

export function Header() {
  const model = useStudio((s) => s.model)
  return (
    <header className="bar">
      <img src="./icon.svg" alt="" width={22} height={22} />
      <div className="bar-title">
        <strong>{model?.title ?? 'acausal studio'}</strong>
        <Where />
      </div>
      {model && <Cases />}
      {model && <Until />}
      {model && <RunButton />}
      <Outcome />
      <span className="grow" />
      {model && <Runs />}
      {model && <ExportMenu />}
      <Help />
      <Scheme />
    </header>
  )
}

function Where() {
  const model = useStudio((s) => s.model)
  const connected = useStudio((s) => s.connected)
  const status = useStudio((s) => s.status)
  if (!connected) return <span className="bar-where lost" role="status">connecting …</span>
  if (status.phase !== 'ready') return <span className={status.phase === 'failed' ? 'bar-where lost' : 'bar-where'} role="status">{status.text}</span>
  const file = status.source.split('/').at(-1)
  return <Tooltip label={<div>{status.source}<br />{count(model?.unknowns ?? 0, 'unknown')}, {count(model?.state_count ?? 0, 'state')}</div>}><span className="bar-where" role="status">{file}</span></Tooltip>
}

function Cases() {
  const cases = useStudio((s) => s.cases)
  const draft = useStudio((s) => s.draft)
  const [asking, ask] = useState(false)
  const [name, setName] = useState('')
  const stored = cases.find((c) => c.name === draft.name)
  const changes = Object.keys(draft.set).length + Object.keys(draft.inputs).length
  const dirty = stored ? JSON.stringify({ ...stored, until: '' }) !== JSON.stringify({ ...draft, until: '' }) : changes > 0
  const save = async (n: string) => { await saveCase(n); ask(false) }
  return (
    <Group gap={4} wrap="nowrap">
      <Select size="xs" w={150} aria-label="Case" value={draft.name} onChange={(v) => choose(v ?? '')} allowDeselect={false} comboboxProps={{ withinPortal: true }}
        data={[{ value: '', label: 'As declared' }, ...cases.map((c) => ({ value: c.name, label: c.name }))]}
        rightSection={dirty ? <Tooltip label={`${count(changes, 'change')}, not saved`}><span className="dot" role="status" aria-label="changes not saved" /></Tooltip> : undefined} />
      <Menu position="bottom-start" shadow="md">
        <Menu.Target><ActionIcon size={28} variant="default" aria-label="Save or delete the case"><Icon name="save" size={15} /></ActionIcon></Menu.Target>
        <Menu.Dropdown>
          {stored && <Menu.Item disabled={!dirty} onClick={() => void save(draft.name)}>Save “{draft.name}”</Menu.Item>}
          <Menu.Item onClick={() => { setName(''); ask(true) }}>Save as a new case …</Menu.Item>
          {dirty && <Menu.Item onClick={() => choose(draft.name)}>Take back all changes</Menu.Item>}
          {stored && <Menu.Item color="red" onClick={() => { link.ask('delete_case', { name: draft.name }).catch(refuse); choose('') }}>Delete “{draft.name}”</Menu.Item>}
        </Menu.Dropdown>
      </Menu>
      <Modal opened={asking} onClose={() => ask(false)} title="Save as a new case" size="sm" centered>
        <form onSubmit={(e) => { e.preventDefault(); void save(name.trim()) }}>
          <TextInput data-autofocus label="Name" placeholder="colder winter" value={name} onChange={(e) => setName(e.currentTarget.value)} />
          <Group justify="flex-end" mt="md"><Button size="xs" type="submit" disabled={!name.trim()}>Save the case</Button></Group>
        </form>
      </Modal>
    </Group>
  )
}

function Until() {
  const draft = useStudio((s) => s.draft)
  const [typed, setTyped] = useState<string | null>(null)
  const commit = (text: string) => { if (text.trim()) adjust({ until: text.trim() }); setTyped(null) }
  return (
    <Group gap={4} wrap="nowrap">
      <TextInput size="xs" w={92} aria-label="End of the run" leftSection={<span className="prefix">until</span>} leftSectionWidth={38} placeholder="…" value={typed ?? draft.until} onChange={(e) => setTyped(e.currentTarget.value)}
        onBlur={(e) => commit(e.currentTarget.value)} onKeyDown={(e) => { if (e.key === 'Enter') { commit(e.currentTarget.value); void start() } }} />
      <Popup position="bottom-start" width={260} target={<ActionIcon size={28} variant="default" aria-label="Settings of the run"><Icon name="down" size={13} /></ActionIcon>}><Settings /></Popup>
    </Group>
  )
}

function Settings() {
  const draft = useStudio((s) => s.draft)
  const auto = useStudio((s) => s.auto)
  return (
    <div className="settings">
      <TextInput size="xs" label="Start" value={draft.start} onChange={(e) => adjust({ start: e.currentTarget.value })} />
      <Select size="xs" label="Begin" value={draft.initial} allowDeselect={false} onChange={(v) => adjust({ initial: v as 'start' })} data={[{ value: 'start', label: 'with the start values' }, { value: 'steady', label: 'at rest (steady state)' }]} />
      <Select size="xs" label="Relative tolerance" value={String(draft.rtol)} allowDeselect={false} onChange={(v) => adjust({ rtol: Number(v) })} data={['0.0001', '0.00001', '0.000001', '1e-7', '1e-8', '1e-9'].map((v) => ({ value: String(Number(v)), label: Number(v).toExponential() }))} />
      <TextInput size="xs" label="Output points" placeholder="501" value={draft.points || ''} onChange={(e) => adjust({ points: Math.max(0, Math.floor(Number(e.currentTarget.value) || 0)) })} />
      <Switch size="xs" label="Run again when something changes" checked={auto} onChange={(e) => { keep('auto', e.currentTarget.checked); useStudio.setState({ auto: e.currentTarget.checked }) }} />
    </div>
  )
}

function useRunning(): Run | undefined {
  return useStudio((s) => [...s.runs].reverse().find(isGoing))
}

function RunButton() {
  const run = useRunning()
  const phase = useStudio((s) => s.status.phase)
  const model = useStudio((s) => s.model)
  const [slow, setSlow] = useState(false)
  useEffect(() => {
    setSlow(false)
    if (!run) return
    const timer = setTimeout(() => setSlow(true), 250) // a run of some milliseconds shall not flicker
    return () => clearTimeout(timer)
  }, [run?.id])
  if (run && slow) {
    const left = run.fraction > 0.01 ? run.seconds * (1 / run.fraction - 1) : NaN
    return (
      <Group gap={8} wrap="nowrap">
        <Button size="xs" color="red" variant="light" leftSection={<Icon name="stop" size={12} filled />} onClick={cancel}>Cancel</Button>
        <div className="bar-progress" role="status">
          <Progress size={5} value={100 * run.fraction} aria-label="Progress of the run" />
          <span>{run.state === 'queued' ? 'waiting for its turn' : `${Math.round(100 * run.fraction)} %${left > 0.5 ? ` · ${seconds(left)} left` : ''}`}</span>
        </div>
      </Group>
    )
  }
  return <Tooltip label="Run (Ctrl+Enter)"><Button size="xs" disabled={!model?.runs || (phase === 'loading' && !model)} leftSection={<Icon name="play" size={12} filled />} onClick={() => void start()}>Run</Button></Tooltip>
}

function Outcome() {
  const run = useStudio((s) => s.runs.find((r) => r.id === s.current))
  const going = useRunning()
  if (!run || (going && going.id === run.id)) return null
  if (run.state === 'finished') return <Tooltip label={`${count(run.steps, 'step')}, ${count(run.points, 'point')}`}><span className="bar-outcome" role="status">{seconds(run.seconds)}{run.events ? ` · ${count(run.events, 'event')}` : ''}{canGoOn(run) && <Button size="compact-xs" variant="subtle" onClick={() => void goOn()}>Continue</Button>}</span></Tooltip>
  return (
    <UnstyledButton className="bar-outcome bad" role="status" onClick={() => useStudio.setState({ view: 'messages' })}>
      <Icon name="warning" size={14} /> {run.state === 'cancelled' ? `stopped at ${time(run.time)}` : run.time > 0 ? `failed at ${time(run.time)}` : 'failed'}
    </UnstyledButton>
  )
}

function Runs() {
  const runs = useStudio((s) => s.runs)
  const current = useStudio((s) => s.current)
  const overlay = useStudio((s) => s.overlay)
  return (
    <Popup position="bottom-end" width={360} p={6} target={<Button size="xs" variant="default" disabled={!runs.length} rightSection={<Icon name="down" size={11} />}>Runs {runs.length || ''}</Button>}>
        <div className="runs" role="list" aria-label="Runs">
          {[...runs].reverse().map((r) => (
            <div key={r.id} role="listitem" className={r.id === current ? 'run chosen' : 'run'} draggable onDragStart={(e) => e.dataTransfer.setData('text/acausal-run', r.id)}>
              <Tooltip label="Draw it too"><input type="checkbox" aria-label={`Compare run ${r.number}`} disabled={r.id === current} checked={overlay.includes(r.id) || r.id === current} onChange={() => toggleOverlay(r.id)} /></Tooltip>
              <UnstyledButton className="run-name" onClick={() => look(r.id)} aria-label={`Look at run ${r.number}`}>
                <b>#{r.number}</b> {saidOf(r)}
                <span className="dim">{new Date(1000 * r.begun).toLocaleTimeString([], { hour: '2-digit', minute: '2-digit', second: '2-digit' })} · {r.state === 'finished' ? seconds(r.seconds) : r.state}</span>
              </UnstyledButton>
              <ActionIcon size="xs" variant="subtle" color="gray" aria-label={`Forget run ${r.number}`} onClick={() => link.ask('forget', { run: r.id }).catch(refuse)}><Icon name="trash" size={13} /></ActionIcon>
            </div>
          ))}
        </div>
    </Popup>
  )
}

export const take = async (form: string, names: string[] = []): Promise<void> => {
  const { current } = useStudio.getState()
  try {
    const file = await link.ask('export', { run: current, names, form })
    const a = document.createElement('a')
    a.href = `./files/${encodeURIComponent(file)}`
    a.download = file
    a.click()
  } catch (error) {
    refuse(error)
  }
}

function ExportMenu() {
  const current = useStudio((s) => s.current)
  const panels = useStudio((s) => s.panels)
  const drawn = [...new Set(panels.flatMap((p) => p.names))]
  const [[diagram, chart], setSeen] = useState<(Element | null)[]>([null, null])
  if (!current) return null
  return (
    <Menu position="bottom-end" shadow="md" onOpen={() => setSeen([document.querySelector('.diagram'), document.querySelector('.chart')])}>
      <Menu.Target><ActionIcon size={28} variant="default" aria-label="Export the run"><Icon name="export" size={15} /></ActionIcon></Menu.Target>
      <Menu.Dropdown>
        <Menu.Item onClick={() => void take('csv', drawn)}>CSV, what is drawn</Menu.Item>
        <Menu.Item onClick={() => void take('csv')}>CSV, everything</Menu.Item>
        <Menu.Item onClick={() => void take('parquet')}>Parquet</Menu.Item>
        <Menu.Item onClick={() => void take('mat')}>Dymola .mat</Menu.Item>
        <Menu.Item onClick={() => void take('svg', drawn)}>Plots as SVG</Menu.Item>
        <Menu.Item onClick={() => void take('png', drawn)}>Plots as PNG</Menu.Item>
        <Menu.Item onClick={() => void take('html', drawn)}>Report (HTML)</Menu.Item>
        {diagram && <Menu.Item onClick={() => save('diagram.svg', new Blob([diagramSvg(diagram)], { type: 'image/svg+xml' }))}>Diagram as SVG</Menu.Item>}
        {chart && <Menu.Item onClick={() => void chartPng(chart, getComputedStyle(document.documentElement).getPropertyValue('--paper')).then((b) => save('chart.png', b))}>Chart as PNG</Menu.Item>}
      </Menu.Dropdown>
    </Menu>
  )
}

// What opens below a button, and closes with it, with a click elsewhere and with Escape, wherever the focus is.
function Popup({ target, children, p, ...how }: { target: ReactElement<HTMLAttributes<HTMLElement>>; children: ReactNode; position: 'bottom-start' | 'bottom-end'; width?: number; p?: number }) {
  const [opened, setOpened] = useState(false)
  useEffect(() => {
    if (!opened) return
    const hear = (e: KeyboardEvent) => { if (e.key === 'Escape') setOpened(false) }
    addEventListener('keydown', hear)
    return () => removeEventListener('keydown', hear)
  }, [opened])
  return (
    <Popover opened={opened} onChange={setOpened} shadow="md" {...how}>
      <Popover.Target>{cloneElement(target, { onClick: () => setOpened(!opened) })}</Popover.Target>
      <Popover.Dropdown p={p}>{children}</Popover.Dropdown>
    </Popover>
  )
}

const KEYS: [string, string][] = [
  ['Ctrl Enter', 'run'], ['Escape', 'cancel the run'], ['Space', 'play or pause'], ['← →', 'a step in time'], ['1 – 8', 'views'], ['/', 'search'],
  ['wheel on a plot', 'zoom'], ['drag on a plot', 'zoom to a range'], ['shift drag', 'pan; on a diagram: choose several'], ['Ctrl D, R, Del', 'copy, turn, delete what is chosen'], ['double click', 'everything; on a part: look inside'],
]
function Help() {
  return (
    <Popup position="bottom-end" target={<ActionIcon size={28} variant="subtle" color="gray" aria-label="Keyboard shortcuts"><Icon name="help" /></ActionIcon>}>
      <table className="keys"><tbody>{KEYS.map(([k, w]) => <tr key={k}><td><kbd>{k}</kbd></td><td>{w}</td></tr>)}</tbody></table>
    </Popup>
  )
}

function Scheme() {
  const { setColorScheme } = useMantineColorScheme()
  const dark = useComputedColorScheme('light') === 'dark'
  return <ActionIcon size={28} variant="subtle" color="gray" aria-label={dark ? 'Light colours' : 'Dark colours'} onClick={() => setColorScheme(dark ? 'light' : 'dark')}><Icon name={dark ? 'sun' : 'moon'} /></ActionIcon>
}
