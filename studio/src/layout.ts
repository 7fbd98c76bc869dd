// Places for parts and bends for wires. ELK cannot be interrupted: it works in a thread of its own, with a deadline; what it found is kept.
import ELK from 'elkjs/lib/elk-api.js'
import type { Diagram, DiagramPart } from './protocol'

export interface Point {
  x: number
  y: number
}
export interface Moved extends Point {
  turns?: number // quarters; its ports stay where they are then, and do not look for their wires
}
export type Side = 'left' | 'right' | 'top' | 'bottom'
export interface Placed {
  at: Record<string, Point>
  ports: Record<string, Point & { side: Side }>
  bends: Record<string, Point[]>
  joints: Point[]
}

export const WIDTH = 144
// A signal that nothing is connected to is drawn only while somebody edits.
export const withPorts = (diagram: Diagram, all: boolean): Diagram => (all ? diagram : { ...diagram, parts: diagram.parts.map((p) => ({ ...p, ports: p.ports.filter((q) => !q.free) })) })

export const heightOf = (p: DiagramPart): number => (p.border ? 26 : Math.max(40 + 15 * p.shown.length, 22 + 14 * Math.ceil(p.ports.length / 2)))
export const widthOf = (p: DiagramPart): number => (p.border ? Math.max(44, 16 + 7 * p.name.length) : WIDTH)

// Where drawings are kept from one visit to the next; a page without a server keeps none.
export interface Memory {
  recall(key: string): Promise<string>
  remember(key: string, text: string): void
}
let memory: Memory | null = null
export const keepIn = (m: Memory): void => { memory = m }

const DEADLINE = 15_000
const known = new Map<string, Placed>()
let elk: any = null
let factory: () => Worker = () => { throw new Error('nobody said where the thread for layouts is') }
export const layoutIn = (make: () => Worker): void => { factory = make }
const ours = (): any => (elk ??= new ELK({ workerFactory: () => factory() }))

// Of a small plant several drawings are made, and the one that comes out largest in its place is taken.
export async function layout(diagram: Diagram, box: { width: number; height: number }): Promise<Placed> {
  const shape = box.width / box.height
  const aspect = shape > 2.2 ? 2.4 : shape > 1.3 ? 1.6 : 1
  const ways: Way[] = diagram.parts.length > 120 ? [{ direction: 'RIGHT', wrap: true, aspect }] : [{ direction: 'RIGHT', wrap: false, aspect }, { direction: 'DOWN', wrap: false, aspect }, ...(diagram.parts.length > 6 ? [{ direction: 'RIGHT', wrap: true, aspect }] : [])]
  let best: { placed: Placed; size: number } | null = null
  const all = await Promise.all(ways.map((way) => drawn(diagram, way)))
  for (const [k, way] of ways.entries()) {
    const placed = all[k]
    const { width, height } = extent(diagram, placed)
    const size = Math.min(box.width / width, box.height / height) * (way.wrap ? 0.88 : 1) // wires that run back cost the eye something
    if (!best || size > 1.02 * best.size) best = { placed, size }
  }
  return best!.placed
}

interface Way {
  direction: string
  wrap: boolean
  aspect: number
}

export function extent(diagram: Diagram, placed: Placed): { x: number; y: number; width: number; height: number } {
  const corners = diagram.parts.flatMap((p) => [placed.at[p.id], { x: placed.at[p.id].x + widthOf(p), y: placed.at[p.id].y + heightOf(p) }])
  let [left, top, right, bottom] = [Infinity, Infinity, -Infinity, -Infinity]
  for (const { x, y } of [...corners, ...Object.values(placed.bends).flat()]) [left, top, right, bottom] = [Math.min(left, x), Math.min(top, y), Math.max(right, x), Math.max(bottom, y)]
  return { x: left, y: top, width: right - left, height: bottom - top }
}

async function drawn(diagram: Diagram, way: Way): Promise<Placed> {
  const key = JSON.stringify([way, diagram.parts.map((p) => [p.id, heightOf(p), p.ports.map((q) => q.name)]), diagram.wires.map((w) => [w.source, w.source_port, w.target, w.target_port])])
  const found = known.get(key) ?? (await recalled(key))
  if (found) return found
  const late = new Promise<null>((resolve) => setTimeout(() => resolve(null), DEADLINE))
  const done = await Promise.race([ours().layout(graph(diagram, way)).then(read), late]).catch(() => null)
  if (!done) {
    elk?.terminateWorker?.()
    elk = null
    return grid(diagram)
  }
  known.set(key, done)
  memory?.remember(hash(key), JSON.stringify(done))
  return done
}

async function recalled(key: string): Promise<Placed | undefined> {
  const text = await memory?.recall(hash(key)).catch(() => '')
  if (!text) return undefined
  try {
    const placed = JSON.parse(text) as Placed
    known.set(key, placed)
    return placed
  } catch {
    return undefined
  }
}

// 128 bits of a text: four sums with different seeds (after cyrb53).
function hash(text: string): string {
  const h = [0x9e3779b1, 0x85ebca77, 0xc2b2ae3d, 0x27d4eb2f]
  for (let k = 0; k < text.length; k++) for (let i = 0; i < 4; i++) h[i] = Math.imul(h[i] ^ text.charCodeAt(k), 0x9e3779b1 + 2 * i * 0x5bd1e995) ^ (h[i] >>> 15)
  return h.map((v) => (v >>> 0).toString(16).padStart(8, '0')).join('')
}

// Of a thousand parts in a row the careful way takes a minute, this one two seconds.
const MANY = 200
const QUICK = { 'elk.layered.layering.strategy': 'LONGEST_PATH', 'elk.layered.nodePlacement.strategy': 'BRANDES_KOEPF', 'elk.layered.thoroughness': '1', 'elk.layered.considerModelOrder.strategy': 'NONE' }

function graph(diagram: Diagram, way: Way): any {
  return {
    id: 'root',
    layoutOptions: {
      'elk.algorithm': 'layered', 'elk.direction': way.direction, 'elk.edgeRouting': 'ORTHOGONAL', 'elk.spacing.nodeNode': '22', 'elk.spacing.edgeNode': '14', 'elk.spacing.edgeEdge': '9',
      'elk.layered.spacing.nodeNodeBetweenLayers': '36', 'elk.layered.spacing.edgeNodeBetweenLayers': '14', 'elk.layered.spacing.edgeEdgeBetweenLayers': '9',
      'elk.separateConnectedComponents': 'true', 'elk.aspectRatio': String(way.aspect), 'elk.layered.wrapping.strategy': way.wrap ? 'MULTI_EDGE' : 'OFF', 'elk.layered.wrapping.additionalEdgeSpacing': '6', 'elk.layered.nodePlacement.strategy': 'NETWORK_SIMPLEX', 'elk.layered.nodePlacement.favorStraightEdges': 'true',
      'elk.layered.thoroughness': diagram.parts.length < 80 ? '8' : '3', 'elk.layered.considerModelOrder.strategy': 'PREFER_EDGES', 'elk.padding': '[top=8,left=8,bottom=8,right=8]',
      ...(diagram.parts.length > MANY ? QUICK : {}),
    },
    children: diagram.parts.map((p) => ({
      id: p.id, width: widthOf(p), height: heightOf(p), layoutOptions: { 'elk.portConstraints': 'FREE', 'elk.spacing.portPort': '12' },
      ports: p.ports.map((q) => ({ id: `${p.id}\u0000${q.name}`, width: 8, height: 8, layoutOptions: { 'elk.port.borderOffset': '-4' } })),
    })),
    edges: diagram.wires.map((w) => ({ id: w.id, sources: [`${w.source}\u0000${w.source_port}`], targets: [`${w.target}\u0000${w.target_port}`] })),
  }
}

function read(done: any): Placed {
  const placed: Placed = { at: {}, ports: {}, bends: {}, joints: [] }
  for (const n of done.children) {
    placed.at[n.id] = { x: n.x, y: n.y }
    for (const p of n.ports ?? []) placed.ports[p.id] = { x: p.x + 4, y: p.y + 4, side: sideOf(p.x + 4, p.y + 4, n.width, n.height) }
  }
  for (const e of done.edges) {
    const s = e.sections?.[0]
    if (s) placed.bends[e.id] = [s.startPoint, ...(s.bendPoints ?? []), s.endPoint]
    for (const j of e.junctionPoints ?? []) placed.joints.push(j)
  }
  return placed
}

const sideOf = (x: number, y: number, width: number, height: number): Side => {
  const to: [Side, number][] = [['left', x], ['right', width - x], ['top', y], ['bottom', height - y]]
  return to.reduce((a, b) => (b[1] < a[1] ? b : a))[0]
}

// Parts that somebody put somewhere: their ports look to where their wires go.
export function facing(diagram: Diagram, placed: Placed, moved: Record<string, Moved>): Placed {
  const ids = diagram.parts.filter((p) => moved[p.id])
  if (!ids.length) return placed
  const at = { ...placed.at, ...moved }
  const middle = (id: string): Point => {
    const p = diagram.parts.find((x) => x.id === id)!
    return { x: at[id].x + widthOf(p) / 2, y: at[id].y + heightOf(p) / 2 }
  }
  const ports = { ...placed.ports }
  for (const p of ids) {
    const own = middle(p.id)
    const turns = moved[p.id].turns
    const sides: Record<'left' | 'right', string[]> = { left: [], right: [] }
    p.ports.forEach((q, k) => {
      const others = diagram.wires.flatMap((w) => (w.source === p.id && w.source_port === q.name ? [w.target] : w.target === p.id && w.target_port === q.name ? [w.source] : []))
      const to = turns === undefined && others.length ? others.reduce((sum, o) => sum + middle(o).x, 0) / others.length - own.x : q.side === 'in' ? -1 : q.side === 'out' ? 1 : k % 2 ? 1 : -1
      sides[to < 0 ? 'left' : 'right'].push(q.name)
    })
    for (const side of ['left', 'right'] as const) sides[side].forEach((name, k) => { ports[`${p.id}\u0000${name}`] = turned(side, (k + 1) / (sides[side].length + 1), turns ?? 0, widthOf(p), heightOf(p)) })
  }
  return { ...placed, at, ports }
}

const AROUND: Side[] = ['left', 'top', 'right', 'bottom']
function turned(side: Side, share: number, turns: number, width: number, height: number): Point & { side: Side } {
  const to = AROUND[(AROUND.indexOf(side) + turns) % 4]
  if (to === 'left' || to === 'right') return { x: to === 'left' ? 0 : width, y: height * (turns > 1 ? 1 - share : share), side: to }
  return { x: width * (turns === 1 ? 1 - share : share), y: to === 'top' ? 0 : height, side: to }
}

// Where there is no layout in time: rows, with ports in turn on the left and on the right.
function grid(diagram: Diagram): Placed {
  const placed: Placed = { at: {}, ports: {}, bends: {}, joints: [] }
  const across = Math.ceil(Math.sqrt(diagram.parts.length * 1.6))
  diagram.parts.forEach((p, k) => {
    placed.at[p.id] = { x: (k % across) * (WIDTH + 60), y: Math.floor(k / across) * 120 }
    p.ports.forEach((q, i) => { placed.ports[`${p.id}\u0000${q.name}`] = { x: i % 2 ? widthOf(p) : 0, y: 20 + 14 * Math.floor(i / 2), side: i % 2 ? 'right' : 'left' } })
  })
  return placed
}
