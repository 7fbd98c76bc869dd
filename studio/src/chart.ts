// A chart of a medium on two canvases: isolines below, drawn once; the states of the plant above, drawn as time goes on.
import { number } from './format'
import type { Chart } from './protocol'

export type Blocks = Record<string, Float64Array>
export interface Drawn {
  chart: Chart
  blocks: Blocks
}
interface Frame {
  x: (v: number) => number
  y: (v: number) => number
  left: number
  top: number
  right: number
  bottom: number
}
interface Ink {
  ink: string
  dim: string
  line: string
  paper: string
  flow: string
}
const FONT = '11px Inter, "Segoe UI", system-ui, "DejaVu Sans", sans-serif'

export const inkOf = (dark: boolean): Ink => (dark ? { ink: '#e9ecef', dim: '#a6a7ab', line: '#2c2e33', paper: '#1a1b1e', flow: '#ffa94d' } : { ink: '#212529', dim: '#5c636a', line: '#eceff2', paper: '#ffffff', flow: '#d9480f' })

function frameOf(chart: Chart, width: number, height: number): Frame {
  const [left, top, right, bottom] = [58, 12, width - 14, height - 40]
  const [x0, x1, y0, y1] = chart.window
  const up = (v: number): number => (chart.logarithmic ? Math.log(v) : v)
  const [low, high] = [up(y0), up(y1)]
  return { left, top, right, bottom, x: (v) => left + ((v - x0) / (x1 - x0)) * (right - left), y: (v) => bottom - ((up(v) - low) / (high - low)) * (bottom - top) }
}

function sized(canvas: HTMLCanvasElement): [CanvasRenderingContext2D, number, number] {
  const [width, height, k] = [canvas.clientWidth, canvas.clientHeight, devicePixelRatio || 1]
  if (canvas.width !== Math.round(width * k) || canvas.height !== Math.round(height * k)) [canvas.width, canvas.height] = [Math.round(width * k), Math.round(height * k)]
  const c = canvas.getContext('2d')!
  c.setTransform(k, 0, 0, k, 0, 0)
  c.clearRect(0, 0, width, height)
  c.font = FONT
  return [c, width, height]
}

export function drawLines(canvas: HTMLCanvasElement, { chart, blocks }: Drawn, dark: boolean): void {
  const [c, width, height] = sized(canvas)
  const f = frameOf(chart, width, height)
  const ink = inkOf(dark)
  axes(c, chart, f, ink)
  c.save()
  c.beginPath()
  c.rect(f.left, f.top, f.right - f.left, f.bottom - f.top)
  c.clip()
  c.lineJoin = 'round'
  const [x, y] = [blocks['line x'], blocks['line y']]
  for (const l of chart.lines) {
    c.strokeStyle = tone(l.colour, dark)
    c.globalAlpha = dark ? 0.6 : 0.55
    c.lineWidth = 0.9
    path(c, f, x, y, l.start, l.end)
  }
  c.globalAlpha = 1
  c.strokeStyle = ink.ink
  c.lineWidth = 1.8
  path(c, f, blocks['dome x'], blocks['dome y'], 0, blocks['dome x'].length)
  labels(c, chart, f, x, y, dark)
  c.restore()
}

// Colours are those of the printed diagrams; on black the dark ones are lightened.
const tone = (colour: string, dark: boolean): string => (dark ? `color-mix(in srgb, ${colour} 62%, white)` : colour)

function path(c: CanvasRenderingContext2D, f: Frame, x: Float64Array, y: Float64Array, from: number, to: number): void {
  c.beginPath()
  for (let k = from; k < to; k++) c[k === from ? 'moveTo' : 'lineTo'](f.x(x[k]), f.y(y[k]))
  c.stroke()
}

function axes(c: CanvasRenderingContext2D, chart: Chart, f: Frame, ink: Ink): void {
  const [x0, x1, y0, y1] = chart.window
  c.lineWidth = 1
  c.fillStyle = ink.dim
  c.textBaseline = 'middle'
  for (const v of round(x0, x1, 8)) {
    c.strokeStyle = ink.line
    c.strokeRect(f.x(v), f.top, 0, f.bottom - f.top)
    c.textAlign = 'center'
    c.fillText(number(v, 6), f.x(v), f.bottom + 11)
  }
  for (const v of chart.logarithmic ? decades(y0, y1) : round(y0, y1, 7)) {
    c.strokeStyle = ink.line
    c.strokeRect(f.left, f.y(v), f.right - f.left, 0)
    c.textAlign = 'right'
    c.fillText(number(v, 6), f.left - 6, f.y(v))
  }
  c.strokeStyle = ink.dim
  c.strokeRect(f.left, f.top, f.right - f.left, f.bottom - f.top)
  c.textAlign = 'center'
  c.fillText(chart.x, (f.left + f.right) / 2, f.bottom + 28)
  c.save()
  c.translate(13, (f.top + f.bottom) / 2)
  c.rotate(-Math.PI / 2)
  c.fillText(chart.y, 0, 0)
  c.restore()
}

function round(low: number, high: number, wanted: number): number[] {
  const raw = (high - low) / wanted
  const decade = 10 ** Math.floor(Math.log10(raw))
  const step = [1, 2, 5, 10].map((m) => m * decade).find((s) => s >= raw)!
  const out: number[] = []
  for (let k = Math.ceil(low / step); k * step <= high; k++) out.push(k * step)
  return out
}
function decades(low: number, high: number): number[] {
  const out: number[] = []
  for (let e = Math.floor(Math.log10(low)); 10 ** e <= high; e++) for (const m of [1, 2, 5]) if (m * 10 ** e >= low && m * 10 ** e <= high) out.push(m * 10 ** e)
  return out
}

// A label for each line where it leaves the window or, if others stand there, somewhere along it; none where there is no room.
function labels(c: CanvasRenderingContext2D, chart: Chart, f: Frame, x: Float64Array, y: Float64Array, dark: boolean): void {
  const taken: [number, number, number, number][] = []
  c.textAlign = 'center'
  c.textBaseline = 'middle'
  c.font = FONT.replace('11px', '9.5px')
  for (const l of chart.lines) {
    const wide = c.measureText(l.label).width + 4
    for (const share of [0.86, 0.14, 0.7, 0.3, 0.5]) {
      const k = Math.round(l.start + share * (l.end - 1 - l.start))
      const [px, py] = [f.x(x[k]), f.y(y[k])]
      const box: [number, number, number, number] = [px - wide / 2, py - 6, px + wide / 2, py + 6]
      const fits = box[0] > f.left && box[2] < f.right && box[1] > f.top && box[3] < f.bottom
      if (!fits || taken.some((t) => box[0] < t[2] + 3 && box[2] > t[0] - 3 && box[1] < t[3] + 1 && box[3] > t[1] - 1)) continue
      taken.push(box)
      c.fillStyle = inkOf(dark).paper
      c.globalAlpha = 0.85
      c.fillRect(box[0], box[1], wide, 12)
      c.globalAlpha = 1
      c.fillStyle = tone(l.colour, dark)
      c.fillText(l.label, px, py)
      break
    }
  }
}

// The plant at one time: a leg that nothing flows through is pale.
export function drawStates(canvas: HTMLCanvasElement, { chart, blocks }: Drawn, k: number, chosen: string, dark: boolean): void {
  const [c, width, height] = sized(canvas)
  const f = frameOf(chart, width, height)
  const ink = inkOf(dark)
  const [x, y, table] = [blocks['path x'], blocks['path y'], blocks.table]
  const [count, n, m] = [blocks.times.length, chart.between, chart.columns.length]
  const flow = (port: number): number => Math.abs(table[(port * m + m - 1) * count + k])
  const most = Math.max(...chart.ports.map((_, p) => flow(p)), 1e-12)
  c.lineJoin = c.lineCap = 'round'
  chart.legs.forEach((leg, i) => {
    const moving = Math.max(flow(leg.a), flow(leg.b)) > 1e-3 * most
    c.strokeStyle = ink.flow
    c.globalAlpha = moving ? 1 : 0.28
    c.lineWidth = leg.part === chosen ? 4.5 : 2.4
    c.beginPath()
    for (let j = 0; j < n; j++) c[j ? 'lineTo' : 'moveTo'](f.x(x[(i * n + j) * count + k]), f.y(y[(i * n + j) * count + k]))
    c.stroke()
  })
  c.globalAlpha = 1
  const ends = chart.legs.flatMap((leg, i) => [[leg.a, i * n], [leg.b, i * n + n - 1]])
  const named: [number, number, string][] = []
  for (const [port, at] of ends) {
    const [px, py] = [f.x(x[at * count + k]), f.y(y[at * count + k])]
    c.fillStyle = ink.paper
    c.strokeStyle = ink.flow
    c.lineWidth = 1.8
    c.beginPath()
    c.arc(px, py, 3.4, 0, 7)
    c.fill()
    c.stroke()
    if (!named.some(([a, b]) => Math.hypot(a - px, b - py) < 16)) named.push([px, py, chart.ports[port]])
  }
  if (named.length > 16) return
  c.font = FONT
  c.textBaseline = 'alphabetic'
  c.textAlign = 'left'
  const taken: [number, number][] = []
  for (const [px, py, name] of named) {
    const wide = c.measureText(name).width
    const places: [number, number][] = [[px + 7, py - 7], [px + 7, py + 16], [px - 7 - wide, py - 7], [px - 7 - wide, py + 16]]
    const free = places.find(([a, b]) => a > f.left && a + wide < f.right && !taken.some(([x0, y0]) => Math.abs(b - y0) < 13 && a < x0 + 110 && a + wide > x0))
    if (!free) continue
    taken.push(free)
    c.lineWidth = 3
    c.strokeStyle = ink.paper
    c.strokeText(name, ...free)
    c.fillStyle = ink.ink
    c.fillText(name, ...free)
  }
}
