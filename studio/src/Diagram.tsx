// The plant as the server describes it: parts, ports, wires; values on it, at the time of the slider.
import { Anchor, Breadcrumbs, Select, useComputedColorScheme } from '@mantine/core'
import { Background, BaseEdge, ConnectionMode, Controls, type Edge, type EdgeProps, Handle, type Node, type NodeProps, Panel, Position, ReactFlow, type ReactFlowInstance } from '@xyflow/react'
import '@xyflow/react/dist/style.css'
import { memo, useEffect, useMemo, useRef, useState } from 'react'
import { shownIn, steady, symbol } from './format'
import { Icon } from './icons'
import { type Placed, type Point, heightOf, layout, widthOf } from './layout'
import type { Frames } from './link'
import type { Diagram as Plan, DiagramPart } from './protocol'
import { indexAt } from './pyramid'
import { framesOf, link, refuse, shownUnit, useStudio } from './store'
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
}

const PartNode = memo(({ data, selected }: NodeProps<Node<PartData>>) => {
  const { part, ports, dark, wrong } = data
  const card = useRef<HTMLDivElement>(null)
  useEffect(() => {
    cards.set(part.id, card.current!)
    return () => void cards.delete(part.id)
  }, [part.id])
  const handles = part.ports.map((q) => {
    const at = ports[`${part.id}\u0000${q.name}`]
    return <Handle key={q.name} id={q.name} type="source" position={POSITION[at?.side ?? 'left']} title={`${q.name}: ${q.kind}${q.doc ? `\n${q.doc}` : ''}`} isConnectable={false}
      style={{ background: wire(q.kind, dark), left: at?.x, top: at?.y, right: 'auto', bottom: 'auto' }} className={q.kind === 'signals' || q.kind === 'states' ? 'port signal-port' : 'port'} />
  })
  if (part.border) return <div ref={card} className="border-port" style={{ width: widthOf(part), height: heightOf(part) }} title={part.doc}>{part.name}{handles}</div>
  return (
    <div ref={card} className={`part${selected ? ' chosen' : ''}${wrong ? ' wrong' : ''}${part.shape.length ? ' many' : ''}`} style={{ width: widthOf(part), height: heightOf(part) }} title={part.doc}>
      <div className="part-head">
        <span className="part-icon"><Icon name={part.icon} size={18} /></span>
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
const WireEdge = memo(({ id, sourceX, sourceY, targetX, targetY, data }: EdgeProps<Edge<WireData>>) => {
  const bends = data!.bends
  const middle = (sourceX + targetX) / 2
  const inner = data!.moved || !bends ? [{ x: middle, y: sourceY }, { x: middle, y: targetY }] : bends.slice(1, -1)
  return <BaseEdge id={id} path={rounded([{ x: sourceX, y: sourceY }, ...inner, { x: targetX, y: targetY }])} style={{ stroke: data!.colour, strokeWidth: data!.thin ? 1.2 : 2 }} />
})

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

const nodeTypes = { part: PartNode }
const edgeTypes = { wire: WireEdge }

export function DiagramView() {
  const box = useRef<HTMLDivElement>(null)
  const shape = () => (box.current ? box.current.clientWidth / Math.max(100, box.current.clientHeight) : 1.6)
  const model = useStudio((s) => s.model)
  const level = useStudio((s) => s.level)
  const [plan, setPlan] = useState<{ plan: Plan; placed: Placed } | null>(null)
  useEffect(() => {
    let wanted = true
    if (!model) return
    link.ask('diagram', { path: level }).then(async (found) => {
      const placed = await layout(found, shape())
      if (wanted) setPlan({ plan: found, placed })
    }).catch(refuse)
    return () => { wanted = false }
  }, [model, level])
  if (!model) return null
  return (
    <div ref={box} className="diagram-box">
      {!plan ? <div className="hint">Drawing the diagram …</div>
        : !plan.plan.parts.length ? <div className="hint">{plan.plan.title} has no parts: it is described by equations alone.</div>
          : <Flow key={`${plan.plan.path} ${plan.plan.title}`} plan={plan.plan} placed={plan.placed} />}
    </div>
  )
}

function Flow({ plan, placed }: { plan: Plan; placed: Placed }) {
  const dark = useComputedColorScheme('light') === 'dark'
  const selected = useStudio((s) => s.selected)
  const wrong = useWrong()
  const flow = useRef<ReactFlowInstance<Node<PartData>, Edge<WireData>> | null>(null)
  const [moved, setMoved] = useState<Record<string, Point>>({})
  const box = useRef<HTMLDivElement>(null)
  const nodes = useMemo<Node<PartData>[]>(() => plan.parts.map((part) => ({
    id: part.id, type: 'part', position: moved[part.id] ?? placed.at[part.id], width: widthOf(part), height: heightOf(part), selected: part.path === selected && !part.border,
    ariaLabel: `${part.name}, ${part.kind}`, data: { part, ports: placed.ports, dark, wrong: wrong.some((w) => w === part.path || w.startsWith(`${part.path}.`) || w.startsWith(`${part.path}[`)) },
  })), [plan, placed, dark, selected, wrong, moved])
  const edges = useMemo<Edge<WireData>[]>(() => plan.wires.map((w) => ({
    id: w.id, type: 'wire', source: w.source, sourceHandle: w.source_port, target: w.target, targetHandle: w.target_port, focusable: false, ariaLabel: `${w.source}.${w.source_port} to ${w.target}.${w.target_port}`,
    data: { bends: placed.bends[w.id], moved: w.source in moved || w.target in moved, colour: wire(w.kind, dark), thin: w.kind === 'signals' || w.kind === 'states' },
  })), [plan, placed, dark, moved])
  useEffect(() => {
    const watch = new ResizeObserver(() => fit(flow.current, plan, placed))
    watch.observe(box.current!)
    return () => watch.disconnect()
  }, [plan, placed])
  useValues(plan, dark)
  return (
    <div ref={box} className="diagram" role="application" aria-label={`Diagram of ${plan.title}: ${plan.parts.length} parts, ${plan.wires.length} wires`}>
      <ReactFlow
        nodes={nodes} edges={edges} nodeTypes={nodeTypes} edgeTypes={edgeTypes} minZoom={0.04} maxZoom={2.5}
        colorMode={dark ? 'dark' : 'light'} connectionMode={ConnectionMode.Loose} nodesConnectable={false} deleteKeyCode={null} onlyRenderVisibleElements={plan.parts.length > 300} proOptions={{ hideAttribution: true }}
        onInit={(f) => { flow.current = f; fit(f, plan, placed) }}
        onMove={(_, v) => box.current?.classList.toggle('far', v.zoom < 0.4)}
        onNodesChange={(changes) => {
          for (const c of changes) if (c.type === 'position' && c.position) setMoved((m) => ({ ...m, [c.id]: c.position! }))
        }}
        onNodeClick={(_, n) => useStudio.setState({ selected: n.data.part.border ? '' : n.data.part.path })}
        onPaneClick={() => useStudio.setState({ selected: '' })}
        onNodeDoubleClick={(_, n) => { if (n.data.part.composite) useStudio.setState({ level: n.data.part.path, selected: '' }) }}
      >
        <Background gap={22} size={1} />
        <Controls showInteractive={false} onFitView={() => fit(flow.current, plan, placed)} position="bottom-right" aria-label="Diagram controls" />
        <Panel position="top-left"><Path /></Panel>
        <Panel position="bottom-left"><Colouring plan={plan} /></Panel>
      </ReactFlow>
    </div>
  )
}

// Everything in sight: parts, and the wires that run around them.
function fit(flow: ReactFlowInstance<Node<PartData>, Edge<WireData>> | null, plan: Plan, placed: Placed): void {
  if (!flow) return
  const corners = plan.parts.flatMap((p) => [placed.at[p.id], { x: placed.at[p.id].x + widthOf(p), y: placed.at[p.id].y + heightOf(p) }])
  const points = [...corners, ...Object.values(placed.bends).flat()]
  const [x, y] = [Math.min(...points.map((p) => p.x)), Math.min(...points.map((p) => p.y))]
  const [width, height] = [Math.max(...points.map((p) => p.x)) - x, Math.max(...points.map((p) => p.y)) - y]
  const spare = Math.max(0, 420 - width, (420 - height) / 2) // a plant of two parts is not blown up
  void flow.fitBounds({ x: x - spare / 2, y: y - 26 - spare / 4, width: width + spare, height: height + 34 + spare / 2 }, { padding: 0.03 })
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
    const names = plan.parts.flatMap((p) => p.shown.map((v) => v.path))
    if (!run || !state || state === 'queued' || state === 'running' || !names.length) return
    void framesOf(run, names).then((data) => {
      if (!wanted || !data) return
      played = { data, rows: new Map(data.columns.map((c, k) => [c.name, k])), largest: largestOf(data) }
      paint(plan, useStudio.getState().time, dark)
    })
    return () => { wanted = false }
  }, [plan, run, state])
  useEffect(() => {
    paint(plan, useStudio.getState().time, dark)
    return useStudio.subscribe((s, before) => { if (s.time !== before.time) paint(plan, s.time, dark) })
  }, [plan, units, dark])
}

function largestOf(data: Frames): Float64Array {
  const n = data.times.length
  return Float64Array.from(data.columns, (_, r) => {
    let found = 0
    for (let i = r * n; i < (r + 1) * n; i++) found = Math.max(found, Math.abs(data.values[i]))
    return found
  })
}

function paint(plan: Plan, t: number, dark: boolean): void {
  if (!played) return
  const { data, rows, largest } = played
  const count = data.times.length
  const k = indexAt(data.times, t)
  for (const part of plan.parts) {
    for (const v of part.shown) {
      const row = rows.get(v.path)
      const text = texts.get(v.path)
      if (row === undefined || !text) continue
      const value = data.values[row * count + k]
      const states = data.columns[row].states
      const unit = shownUnit(v.unit)
      text.textContent = states.length ? (states[value] ?? '–') : `${steady(shownIn(value, unit), unit.factor * largest[row])} ${symbol(unit.symbol)}`
    }
    tint(part, k, dark)
  }
}

function tint(part: DiagramPart, k: number, dark: boolean): void {
  const card = cards.get(part.id)
  if (!card) return
  const shown = colouring.unit ? part.shown.find((v) => v.unit === colouring.unit && played!.rows.has(v.path)) : undefined
  if (!shown || !played) {
    card.style.removeProperty('--tint')
    return
  }
  const [low, high] = span(colouring.unit)
  const value = played.data.values[played.rows.get(shown.path)! * played.data.times.length + k]
  const share = Math.min(1, Math.max(0, (value - low) / (high - low || 1)))
  card.style.setProperty('--tint', `hsl(${225 - 225 * share} 80% ${dark ? 32 : 80}%)`)
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
    paint(plan, useStudio.getState().time, dark)
  }, [unit, plan, dark])
  return <Select size="xs" w={132} aria-label="Colour the parts by" placeholder="Colour by …" clearable value={unit || null} onChange={(v) => setUnit(v ?? '')} comboboxProps={{ withinPortal: true }}
    data={all.map((u) => ({ value: u, label: names[u] ?? symbol(u) }))} />
}
