// The plant as the server describes it: parts, ports, wires; values on it, at the time of the slider.
import { ActionIcon, Anchor, Breadcrumbs, Button, Group, Select, Tooltip, useComputedColorScheme } from '@mantine/core'
import { Background, BaseEdge, type Connection, ConnectionMode, Controls, type Edge, type EdgeProps, Handle, getViewportForBounds, type Node, type NodeProps, Panel, Position, ReactFlow, type ReactFlowInstance } from '@xyflow/react'
import '@xyflow/react/dist/style.css'
import { type DragEvent, type KeyboardEvent, memo, useEffect, useMemo, useRef, useState } from 'react'
import { steady, symbol } from './format'
import { Icon } from './icons'
import { type Moved, type Placed, type Point, extent, facing, heightOf, layout, widthOf, withPorts } from './layout'
import type { Frames } from './link'
import { Palette } from './Palette'
import type { Diagram as Plan, DiagramPart, Piece } from './protocol'
import { indexAt } from './pyramid'
import { edit, framesOf, link, redo, refuse, shownUnit, undo, useStudio } from './store'
import { wire } from './theme'

const POSITION = { left: Position.Left, right: Position.Right, top: Position.Top, bottom: Position.Bottom }

// Values go past React: each text registers itself, and moving the slider writes into a thousand of them in a few milliseconds.
const texts = new Map<string, HTMLElement>()
const cards = new Map<string, HTMLElement>()

interface PartData extends Record<string, unknown> {
  part: DiagramPart
  ports: Placed['ports']
  dark: boolean
  wrong: boolean
  editing: boolean
}

const PartNode = memo(({ data, selected }: NodeProps<Node<PartData>>) => {
  const { part, ports, dark, wrong, editing } = data
  const card = useRef<HTMLDivElement>(null)
  useEffect(() => {
    cards.set(part.id, card.current!)
    return () => void cards.delete(part.id)
  }, [part.id])
  const handles = part.ports.map((q) => {
    const at = ports[`${part.id}\u0000${q.name}`]
    return <Handle key={q.name} id={q.name} type="source" position={POSITION[at?.side ?? 'left']} title={`${q.name}: ${q.kind}${q.doc ? `\n${q.doc}` : ''}`} isConnectable={editing}
      style={{ background: wire(q.kind, dark), left: at?.x, top: at?.y, right: 'auto', bottom: 'auto' }} className={q.kind === 'signals' || q.kind === 'states' ? 'port signal-port' : 'port'} />
  })
  if (part.border) return <div ref={card} className="border-port" style={{ width: widthOf(part), height: heightOf(part) }} title={part.doc}>{part.name}{handles}</div>
  return (
    <div ref={card} className={`part${selected ? ' chosen' : ''}${wrong ? ' wrong' : ''}${part.shape.length ? ' many' : ''}`} style={{ width: widthOf(part), height: heightOf(part) }} title={part.doc}>
      <div className="part-head">
        <span className="part-icon"><Icon name={part.icon} size={22} /></span>
        <span className="part-title">
          <span className="part-name">{part.name}{part.shape.length > 0 && <em> × {part.shape.join(' × ')}</em>}</span>
          <span className="part-kind">{part.kind}</span>
        </span>
        {part.composite && <span className="part-inside" title="Double click to look inside"><Icon name="inside" size={13} /></span>}
        {wrong && <span className="part-wrong"><Icon name="warning" size={15} /></span>}
      </div>
      {part.shown.map((v) => (
        <div className="part-value" key={v.path}><span>{v.label}</span><output ref={(e) => { if (e) texts.set(v.path, e); else texts.delete(v.path) }}>–</output></div>
      ))}
      {handles}
    </div>
  )
})

interface WireData extends Record<string, unknown> {
  bends: Point[] | undefined
  moved: boolean
  colour: string
  thin: boolean
}
const WireEdge = memo(({ id, sourceX, sourceY, targetX, targetY, sourcePosition, targetPosition, data }: EdgeProps<Edge<WireData>>) => {
  const bends = data!.bends
  const middle = (sourceX + targetX) / 2
  const out = (side: Position) => (side === Position.Left ? -16 : 16)
  const [a, b] = [sourceX + out(sourcePosition), targetX + out(targetPosition)]
  const straight = (sourcePosition === Position.Right && middle > a) || (sourcePosition === Position.Left && middle < a)
  const upright = [sourcePosition, targetPosition].some((s) => s === Position.Top || s === Position.Bottom)
  const inner = upright && data!.moved ? elbows({ x: sourceX, y: sourceY }, sourcePosition, { x: targetX, y: targetY }, targetPosition) : !data!.moved && bends ? bends.slice(1, -1) : straight ? [{ x: middle, y: sourceY }, { x: middle, y: targetY }] : [{ x: a, y: sourceY }, { x: a, y: (sourceY + targetY) / 2 }, { x: b, y: (sourceY + targetY) / 2 }, { x: b, y: targetY }]
  return <BaseEdge id={id} path={rounded([{ x: sourceX, y: sourceY }, ...inner, { x: targetX, y: targetY }])} style={{ stroke: data!.colour, strokeWidth: data!.thin ? 1.2 : 2 }} />
})

// From a port that looks up or down: away from it, over, and in.
const AWAY: Record<Position, Point> = { [Position.Left]: { x: -16, y: 0 }, [Position.Right]: { x: 16, y: 0 }, [Position.Top]: { x: 0, y: -16 }, [Position.Bottom]: { x: 0, y: 16 } }
function elbows(a: Point, from: Position, b: Point, to: Position): Point[] {
  const [p, q] = [{ x: a.x + AWAY[from].x, y: a.y + AWAY[from].y }, { x: b.x + AWAY[to].x, y: b.y + AWAY[to].y }]
  return [p, AWAY[from].x === 0 ? { x: q.x, y: p.y } : { x: p.x, y: q.y }, q]
}

// Corners with a small radius: easier to follow than sharp ones where wires run side by side.
function rounded(points: Point[], radius = 6): string {
  let path = `M${points[0].x},${points[0].y}`
  for (let k = 1; k < points.length - 1; k++) {
    const [a, b, c] = [points[k - 1], points[k], points[k + 1]]
    const [p, q] = [Math.hypot(b.x - a.x, b.y - a.y), Math.hypot(c.x - b.x, c.y - b.y)]
    const r = Math.min(radius, p / 2, q / 2)
    if (r < 0.5) path += `L${b.x},${b.y}`
    else path += `L${b.x + ((a.x - b.x) * r) / p},${b.y + ((a.y - b.y) * r) / p}Q${b.x},${b.y} ${b.x + ((c.x - b.x) * r) / q},${b.y + ((c.y - b.y) * r) / q}`
  }
  const end = points[points.length - 1]
  return `${path}L${end.x},${end.y}`
}

// A part that was just put there.
const GhostNode = ({ data }: NodeProps<Node<{ kind: string }>>) => <div className="part ghost" role="status"><div className="part-head"><span className="part-title"><span className="part-name">{data.kind}</span><span className="part-kind">being added …</span></span></div></div>

const nodeTypes = { part: PartNode, ghost: GhostNode }
const edgeTypes = { wire: WireEdge }

// When the page has nothing else to do; Safari does not say when that is.
const whenIdle = (then: () => void) => void ('requestIdleCallback' in window ? requestIdleCallback(then, { timeout: 1000 }) : setTimeout(then, 100))

export function DiagramView() {
  const box = useRef<HTMLDivElement>(null)
  const room = () => ({ width: Math.max(200, box.current?.clientWidth ?? 0), height: Math.max(150, (box.current?.clientHeight ?? 0) - 30) })
  const model = useStudio((s) => s.model)
  const level = useStudio((s) => s.level)
  const editing = useStudio((s) => s.editing)
  const view = useStudio((s) => s.view) // its place has another shape then: another drawing may fit better
  const [plan, setPlan] = useState<{ plan: Plan; placed: Placed } | null>(null)
  useEffect(() => {
    let wanted = true
    if (!model) return
    const whole = level === '' && model.diagram ? Promise.resolve(model.diagram) : link.ask('diagram', { path: level })
    whole.then(async (whole) => {
      const found = withPorts(whole, editing && model.written.includes(whole.title))
      const placed = await layout(found, room())
      if (!wanted) return
      setPlan({ plan: found, placed })
      whenIdle(() => void link.ask('shown', {}).catch(() => undefined))
    }).catch(refuse)
    return () => { wanted = false }
  }, [model, level, editing, view])
  if (!model) return null
  return (
    <div ref={box} className="diagram-box">
      {!plan ? <div className="hint">Drawing the diagram …</div>
        : !plan.plan.parts.length && !editing ? <div className="hint"><div>{plan.plan.title} has no parts: it is described by equations alone.<br /><br /><EditButton kind={plan.plan.title} /></div></div>
          : <Flow key={`${plan.plan.path} ${plan.plan.title}`} plan={plan.plan} placed={plan.placed} />}
    </div>
  )
}

function Flow({ plan, placed: found }: { plan: Plan; placed: Placed }) {
  const dark = useComputedColorScheme('light') === 'dark'
  const selected = useStudio((s) => s.selected)
  const wrong = useWrong()
  const flow = useRef<ReactFlowInstance<Node<PartData>, Edge<WireData>> | null>(null)
  const editing = useStudio((s) => s.editing && !!s.model?.written.includes(plan.title))
  const kept = useStudio((s) => s.layout[plan.path])
  const [dragged, setMoved] = useState<Record<string, Point>>({})
  const [several, setSeveral] = useState<string[]>([])
  const moved = useMemo<Record<string, Moved>>(() => {
    const put: Record<string, Moved> = Object.fromEntries(Object.entries(kept ?? {}).map(([id, [x, y, turns]]) => [id, { x, y, turns }]))
    for (const [id, at] of Object.entries(dragged)) put[id] = { ...put[id], ...at }
    return put
  }, [kept, dragged])
  const placed = useMemo(() => facing(plan, found, moved), [plan, found, moved])
  const [chosenWire, chooseWire] = useState('')
  const drawing = useRef(false) // whether this plan is one that is being edited
  const box = useRef<HTMLDivElement>(null)
  // what was drawn and is not in a model yet: shown at once, until the model is loaded again or the studio refuses
  const [fresh, setFresh] = useState<{ wires: Connection[]; parts: { kind: string; at: Point }[] }>({ wires: [], parts: [] })
  useEffect(() => setFresh((f) => (f.wires.length + f.parts.length ? { wires: [], parts: [] } : f)), [plan])
  const nodes = useMemo<Node<PartData>[]>(() => plan.parts.map((part) => ({
    id: part.id, type: 'part', position: placed.at[part.id], width: widthOf(part), height: heightOf(part), selected: (part.path === selected && !part.border) || several.includes(part.id),
    ariaLabel: `${part.name}, ${part.kind}`, data: { part, ports: placed.ports, dark, editing, wrong: wrong.some((w) => w === part.path || w.startsWith(`${part.path}.`) || w.startsWith(`${part.path}[`)) },
  })), [plan, placed, dark, selected, several, wrong, moved, editing])
  const edges = useMemo<Edge<WireData>[]>(() => plan.wires.map((w) => ({
    id: w.id, type: 'wire', source: w.source, sourceHandle: w.source_port, target: w.target, targetHandle: w.target_port, focusable: false, selected: w.id === chosenWire, ariaLabel: `${w.source}.${w.source_port} to ${w.target}.${w.target_port}`,
    data: { bends: placed.bends[w.id], moved: w.source in moved || w.target in moved, colour: w.id === chosenWire ? '#f08c00' : wire(w.kind, dark), thin: w.kind === 'signals' || w.kind === 'states' },
  })), [plan, placed, dark, moved, chosenWire])
  const sketched = useMemo<Edge<WireData>[]>(() => fresh.wires.map((c, k) => ({
    id: `fresh ${k}`, type: 'wire', ...c, focusable: false, className: 'fresh', ariaLabel: `${c.source}.${c.sourceHandle} to ${c.target}.${c.targetHandle}, being connected`,
    data: { bends: undefined, moved: true, colour: '#f08c00', thin: false },
  })), [fresh])
  const ghosts = useMemo<Node[]>(() => fresh.parts.map(({ kind, at }, k) => ({ id: `fresh part ${k}`, type: 'ghost', position: at, data: { kind }, selectable: false, draggable: false })), [fresh])
  const connect = async (c: Connection) => {
    setFresh((f) => ({ ...f, wires: [...f.wires, c] }))
    if ((await edit(plan.title, [{ do: 'connect', a: endOf(c.source, c.sourceHandle!), b: endOf(c.target, c.targetHandle!) }])) === null) setFresh((f) => ({ ...f, wires: f.wires.filter((w) => w !== c) }))
  }
  const remove = () => {
    const names = chosenParts().map((p) => p.name)
    const w = plan.wires.find((x) => x.id === chosenWire)
    if (w) void edit(plan.title, [{ do: 'disconnect', line: Number(w.place.split(':').at(-1)), a: endOf(w.source, w.source_port), b: endOf(w.target, w.target_port) }])
    else if (names.length) void edit(plan.title, names.map((part) => ({ do: 'remove', part })))
    chooseWire('')
    setSeveral([])
  }
  const chosenParts = () => plan.parts.filter((p) => !p.border && (several.includes(p.id) || p.path === selected))
  const put = (at: Record<string, number[]>) => void link.ask('place', { level: plan.path, at }).catch(refuse)
  const copy = async () => {
    const parts = chosenParts()
    if (!parts.length) return
    const names = ((await edit(plan.title, [{ do: 'copy', parts: parts.map((p) => p.name) }])) ?? '').split(' ').filter(Boolean)
    if (!names.length) return
    const below = Math.max(...parts.map((p) => placed.at[p.id].y + heightOf(p))) - Math.min(...parts.map((p) => placed.at[p.id].y)) + 30
    put(Object.fromEntries(names.map((n, k) => [n, [Math.round(placed.at[parts[k].id].x), Math.round(placed.at[parts[k].id].y + below)]])))
    setSeveral(names)
    useStudio.setState({ selected: '' })
  }
  const rotate = () => put(Object.fromEntries(chosenParts().map((p) => [p.id, [Math.round(placed.at[p.id].x), Math.round(placed.at[p.id].y), ((moved[p.id]?.turns ?? 0) + 1) % 4]])))
  const keys = (e: KeyboardEvent) => {
    if (!editing || (e.target as HTMLElement).tagName === 'INPUT') return
    const way = e.ctrlKey || e.metaKey
    if (e.key === 'Delete' || e.key === 'Backspace') remove()
    else if (way && (e.key === 'd' || e.key === 'v')) void copy()
    else if (!way && e.key === 'r') rotate()
    else return
    e.preventDefault()
  }
  const drop = async (e: DragEvent) => {
    const text = e.dataTransfer.getData('text/acausal-piece')
    if (!text || !flow.current) return
    e.preventDefault()
    const piece = JSON.parse(text) as Piece
    const at = flow.current.screenToFlowPosition({ x: e.clientX - 60, y: e.clientY - 20 })
    const ghost = { kind: piece.name, at }
    setFresh((f) => ({ ...f, parts: [...f.parts, ghost] }))
    const name = await edit(plan.title, [{ do: 'add', kind: piece.name, module: piece.module }])
    if (name === null) setFresh((f) => ({ ...f, parts: f.parts.filter((g) => g !== ghost) }))
    if (name) link.ask('place', { level: plan.path, at: { [name]: [Math.round(at.x), Math.round(at.y)] } }).catch(refuse)
  }
  const fits = (c: Connection | Edge<WireData>): boolean => {
    const port = (id: string | null | undefined, name: string | null | undefined) => plan.parts.find((p) => p.id === id)?.ports.find((q) => q.name === name)
    const [a, b] = [port(c.source, c.sourceHandle), port(c.target, c.targetHandle)]
    return !!a && !!b && a !== b && a.kind === b.kind && !(a.kind === 'signals' && a.side === 'out' && b.side === 'out')
  }
  useEffect(() => {
    if (editing && !drawing.current) fit(flow.current, plan, placed, box.current)
    drawing.current = editing
    const watch = new ResizeObserver(() => fit(flow.current, plan, placed, box.current))
    if (!useStudio.getState().editing) watch.observe(box.current!) // who draws is not pushed about
    return () => watch.disconnect()
  }, [plan, found])
  useValues(plan, dark)
  return (
    <div ref={box} className={editing ? 'diagram editing' : 'diagram'} role="application" aria-label={`Diagram of ${plan.title}: ${plan.parts.length} parts, ${plan.wires.length} wires`}
      onDragOver={(e) => { if (editing) e.preventDefault() }} onDrop={(e) => void drop(e)}
      onKeyDown={keys}>
      {editing && <Palette kind={plan.title} />}
      <ReactFlow
        nodes={ghosts.length ? [...nodes, ...(ghosts as Node<PartData>[])] : nodes} edges={sketched.length ? [...edges, ...sketched] : edges} nodeTypes={nodeTypes} edgeTypes={edgeTypes} minZoom={0.04} maxZoom={2.5}
        colorMode={dark ? 'dark' : 'light'} connectionMode={ConnectionMode.Loose} nodesConnectable={editing} edgesFocusable={false} elementsSelectable deleteKeyCode={null} onlyRenderVisibleElements={plan.parts.length > 300} proOptions={{ hideAttribution: true }}
        onInit={(f) => { flow.current = f; fit(f, plan, placed, box.current) }}
        onMoveStart={(e) => moving(box.current, e instanceof MouseEvent && e.type !== 'wheel')}
        onMoveEnd={() => moving(box.current, false)}
        onMove={(_, v) => seenFrom(box.current, v.zoom < 0.4) && paint(useStudio.getState().time, dark)}
        isValidConnection={fits}
        onConnect={(c) => void connect(c)}
        onEdgeClick={(_, w) => { chooseWire(w.id); useStudio.setState({ selected: '' }) }}
        onNodeDragStop={(_, _n, some) => put(Object.fromEntries(some.map((n) => [n.id, [Math.round(n.position.x), Math.round(n.position.y), ...(moved[n.id]?.turns === undefined ? [] : [moved[n.id].turns!])]])))}
        onNodesChange={(changes) => {
          for (const c of changes) {
            if (c.type === 'position' && c.position) setMoved((m) => ({ ...m, [c.id]: c.position! }))
            if (c.type === 'select') setSeveral((s) => (c.selected ? [...new Set([...s, c.id])] : s.filter((id) => id !== c.id)))
          }
        }}
        onNodeClick={(e, n) => { chooseWire(''); if (e.ctrlKey || e.metaKey || e.shiftKey) return useStudio.setState({ selected: '' }); useStudio.setState({ selected: n.data.part.border ? '' : n.data.part.path, variable: '' }) }}
        onPaneClick={() => { chooseWire(''); useStudio.setState({ selected: '' }) }}
        onNodeDoubleClick={(_, n) => { if (n.data.part.composite) useStudio.setState({ level: n.data.part.path, selected: '' }) }}
      >
        <Background gap={22} size={1} />
        <Controls showInteractive={false} onFitView={() => fit(flow.current, plan, placed, box.current)} position="bottom-right" aria-label="Diagram controls" />
        <Panel position="top-left"><Group gap={6}><Path /><EditButton kind={plan.title} />
          {editing && <EditTools remove={remove} copy={() => void copy()} rotate={rotate} any={!!selected || !!chosenWire || several.length > 0} part={chosenParts().length > 0} />}
          {kept && Object.keys(kept).length > 0 && <Tooltip label="Forget where parts were put, and lay them out anew"><Button size="compact-xs" variant="subtle" onClick={() => { setMoved({}); void link.ask('place', { level: plan.path, at: Object.fromEntries(Object.keys(kept).map((k) => [k, []])) }).catch(refuse) }}>Tidy</Button></Tooltip>}
        </Group></Panel>
        {!editing && <Panel position="top-right"><Colouring plan={plan} /></Panel>}
      </ReactFlow>
    </div>
  )
}

const endOf = (part: string, port: string): string => (part.startsWith(':') ? port : `${part}.${port}`)

function EditButton({ kind }: { kind: string }) {
  const editing = useStudio((s) => s.editing)
  const can = useStudio((s) => !!s.model?.written.includes(kind))
  if (!can) return null
  return <Button size="compact-xs" variant={editing ? 'filled' : 'default'} aria-pressed={editing} onClick={() => useStudio.setState((s) => ({ editing: !editing, view: !editing && s.view === 'both' ? 'diagram' : s.view }))}>{editing ? 'Done' : 'Edit'}</Button>
}

function EditTools({ remove, copy, rotate, any, part }: { remove: () => void; copy: () => void; rotate: () => void; any: boolean; part: boolean }) {
  const history = useStudio((s) => s.history)
  return (
    <Group gap={3}>
      <Tooltip label="Undo (Ctrl+Z)"><ActionIcon size={22} variant="default" aria-label="Undo" disabled={!history.undo} onClick={undo}><Icon name="undo" size={13} /></ActionIcon></Tooltip>
      <Tooltip label="Redo (Ctrl+Shift+Z)"><ActionIcon size={22} variant="default" aria-label="Redo" disabled={!history.redo} onClick={redo}><Icon name="redo" size={13} /></ActionIcon></Tooltip>
      <Tooltip label="Copy what is chosen (Ctrl+D)"><ActionIcon size={22} variant="default" aria-label="Copy what is chosen" disabled={!part} onClick={copy}><Icon name="copy" size={13} /></ActionIcon></Tooltip>
      <Tooltip label="Turn what is chosen (R)"><ActionIcon size={22} variant="default" aria-label="Turn what is chosen" disabled={!part} onClick={rotate}><Icon name="turn" size={13} /></ActionIcon></Tooltip>
      <Tooltip label="Delete what is chosen (Del)"><ActionIcon size={22} variant="default" aria-label="Delete what is chosen" disabled={!any} onClick={remove}><Icon name="trash" size={13} /></ActionIcon></Tooltip>
    </Group>
  )
}

// Everything in sight: parts, and the wires that run around them.
function fit(flow: ReactFlowInstance<Node<PartData>, Edge<WireData>> | null, plan: Plan, placed: Placed, box: HTMLElement | null): void {
  const { editing } = useStudio.getState()
  if (!flow || !plan.parts.length) return
  const { x, y, width, height } = extent(plan, placed)
  if (!box) return
  const top = 38 // the path and the buttons above
  const view = getViewportForBounds({ x, y, width, height }, box.clientWidth - (editing ? 178 : 0), box.clientHeight - top, 0.04, 1.15, 0.03)
  void flow.setViewport({ ...view, y: view.y + top })
}

function Path() {
  const level = useStudio((s) => s.level)
  const title = useStudio((s) => s.model?.title ?? '')
  const names = level ? level.split('.') : []
  const go = (k: number) => useStudio.setState({ level: names.slice(0, k).join('.'), selected: '' })
  return (
    <nav aria-label="Level of the diagram" className="crumbs">
      <Breadcrumbs separator="›" separatorMargin={6}>
        {[title, ...names].map((n, k) => (k === names.length ? <span key={k}>{n}</span> : <Anchor key={k} component="button" size="sm" onClick={() => go(k)}>{n}</Anchor>))}
      </Breadcrumbs>
    </nav>
  )
}

// Components that the present problems name.
function useWrong(): string[] {
  const current = useStudio((s) => s.runs.find((r) => r.id === s.current))
  const problems = useStudio((s) => s.problems)
  return useMemo(() => {
    const found = [...(current?.state === 'failed' ? current.problems : []), ...problems]
    return found.flatMap((p) => [p.component, ...p.details.flatMap((d) => d.match(/^in:\s+([^:]+):/)?.[1] ?? [])]).map((c) => c.split(' (')[0]).filter(Boolean)
  }, [current?.problems, current?.state, problems])
}

// --- values ------------------------------------------------------------------------------------------------------------------------
let played: { data: Frames; rows: Map<string, number>; largest: Float64Array } | null = null
const colouring = { unit: '' }

function useValues(plan: Plan, dark: boolean): void {
  const run = useStudio((s) => s.current)
  const state = useStudio((s) => s.runs.find((r) => r.id === s.current)?.state)
  const units = useStudio((s) => s.units)
  useEffect(() => {
    let wanted = true
    const names = [...new Set([...plan.parts.flatMap((p) => p.shown.map((v) => v.path)), ...flowing(plan).map((w) => w.flow)])]
    if (!run || !state || state === 'queued' || state === 'running' || !names.length) return
    void framesOf(run, names).then((data) => {
      if (!wanted) return
      if (!data?.times.length) return clear() // values of another run would be a lie
      played = { data, rows: new Map(data.columns.map((c, k) => [c.name, k])), largest: largestOf(data) }
      prepare(plan)
      paint(useStudio.getState().time, dark)
    })
    return () => { wanted = false }
  }, [plan, run, state])
  useEffect(() => {
    prepare(plan)
    paint(useStudio.getState().time, dark)
    return useStudio.subscribe((s, before) => { if (s.time !== before.time) paint(s.time, dark) })
  }, [plan, units, dark])
}

function prepare(plan: Plan): void {
  marks = marksOf(plan)
  widths = widthsOf(plan)
  tints = tintsOf(plan)
}

function clear(): void {
  played = null
  for (const w of widths) w.path.style.removeProperty('stroke-width')
  widths = []
  for (const text of texts.values()) text.textContent = '–'
  for (const card of cards.values()) card.style.removeProperty('--tint')
}

function largestOf(data: Frames): Float64Array {
  const n = data.times.length
  return Float64Array.from(data.columns, (_, r) => {
    let found = 0
    for (let i = r * n; i < (r + 1) * n; i++) found = Math.max(found, Math.abs(data.values[i]))
    return found
  })
}

const moving = (box: HTMLElement | null, now: boolean): void => void box?.classList.toggle('moving', now)

// From far away nobody can read numbers: they are not shown, and not written. True when they can be read again.
let far = false
function seenFrom(box: HTMLElement | null, isFar: boolean): boolean {
  box?.classList.toggle('far', isFar)
  const nearer = far && !isFar
  far = isFar
  return nearer
}

function paint(t: number, dark: boolean): void {
  if (!played) return
  const { data } = played
  const count = data.times.length
  const k = indexAt(data.times, t)
  const { values } = data
  if (!far) for (const mark of marks) {
    const text = texts.get(mark.path)
    if (!text) continue
    const value = values[mark.row * count + k]
    const said = mark.states.length ? (mark.states[value] ?? '–') : steady(value * mark.factor + mark.offset, mark.largest) + mark.unit
    if (text.firstChild) { if (text.firstChild.nodeValue !== said) text.firstChild.nodeValue = said } else text.textContent = said
  }
  widen(k)
  colour(k, dark)
}

// A wire is as thick as what flows through it, compared with the most of its kind in this run.
const MANY_WIRES = 200
const flowing = (plan: Plan): Plan['wires'] => (plan.wires.length > MANY_WIRES ? [] : plan.wires.filter((w) => w.flow))
let widths: { path: SVGElement; row: number; most: number }[] = []
function widthsOf(plan: Plan): typeof widths {
  if (!played) return []
  const { data, rows, largest } = played
  const most = new Map<string, number>()
  for (const w of flowing(plan)) { const r = rows.get(w.flow); if (r !== undefined) most.set(data.columns[r].unit, Math.max(most.get(data.columns[r].unit) ?? 0, largest[r])) }
  return flowing(plan).flatMap((w) => {
    const row = rows.get(w.flow)
    const path = document.querySelector<SVGElement>(`.react-flow__edge[data-id="${CSS.escape(w.id)}"] .react-flow__edge-path`)
    const top = row === undefined ? 0 : most.get(data.columns[row].unit)!
    return row === undefined || !path || !(top > 0) ? [] : [{ path, row, most: top }]
  })
}
function widen(k: number): void {
  const { data } = played!
  for (const w of widths) w.path.style.strokeWidth = (1.3 + 4.2 * Math.min(1, Math.sqrt(Math.abs(data.values[w.row * data.times.length + k]) / w.most))).toFixed(2)
}

// What is written where, worked out once: moving the slider only writes.
interface Mark {
  path: string
  row: number
  states: string[]
  factor: number
  offset: number
  unit: string
  largest: number
}
let marks: Mark[] = []
function marksOf(plan: Plan): Mark[] {
  if (!played) return []
  const { data, rows, largest } = played
  return plan.parts.flatMap((part) => part.shown).flatMap((v) => {
    const row = rows.get(v.path)
    if (row === undefined) return []
    const unit = shownUnit(v.unit, v.difference)
    return [{ path: v.path, row, states: data.columns[row].states, factor: unit.factor, offset: unit.offset, unit: ` ${symbol(unit.symbol)}`, largest: Math.abs(unit.factor) * largest[row] }]
  })
}

// Which part has which value's colour, worked out once, too.
let tints: { id: string; row: number }[] = []
let scale: [number, number] = [0, 1]
function tintsOf(plan: Plan): typeof tints {
  if (!played || !colouring.unit) return []
  const { rows } = played
  scale = span(colouring.unit)
  return plan.parts.flatMap((part) => {
    const shown = part.shown.find((v) => v.unit === colouring.unit && rows.has(v.path))
    return shown ? [{ id: part.id, row: rows.get(shown.path)! }] : []
  })
}
function colour(k: number, dark: boolean): void {
  const { values, times } = played!.data
  const [low, high] = scale
  for (const { id, row } of tints) {
    const share = Math.min(1, Math.max(0, (values[row * times.length + k] - low) / (high - low || 1)))
    cards.get(id)?.style.setProperty('--tint', `hsl(${Math.round(225 - 225 * share)} 80% ${dark ? 32 : 80}%)`)
  }
}

function span(unit: string): [number, number] {
  let [low, high] = [Infinity, -Infinity]
  const { data } = played!
  data.columns.forEach((c, r) => {
    if (c.unit !== unit) return
    for (let i = r * data.times.length; i < (r + 1) * data.times.length; i++) {
      if (data.values[i] < low) low = data.values[i]
      if (data.values[i] > high) high = data.values[i]
    }
  })
  return [low, high]
}

function Colouring({ plan }: { plan: Plan }) {
  const dark = useComputedColorScheme('light') === 'dark'
  const [unit, setUnit] = useState(colouring.unit)
  const names: Record<string, string> = { K: 'temperature', Pa: 'pressure', W: 'power', 'kg/s': 'mass flow', V: 'voltage', A: 'current', 'J/kg': 'enthalpy' }
  const all = [...new Set(plan.parts.flatMap((p) => p.shown.map((v) => v.unit)))].filter(Boolean)
  useEffect(() => {
    colouring.unit = unit
    for (const card of cards.values()) card.style.removeProperty('--tint')
    tints = tintsOf(plan)
    paint(useStudio.getState().time, dark)
  }, [unit, plan, dark])
  return <Select size="xs" w={132} aria-label="Colour the parts by" placeholder="Colour by …" clearable value={unit || null} onChange={(v) => setUnit(v ?? '')} comboboxProps={{ withinPortal: true }}
    data={all.map((u) => ({ value: u, label: names[u] ?? symbol(u) }))} />
}
