// How a curve that swings more often than a picture can show is drawn. Stroking every swing costs a rasteriser the length of the line: a
// tenth of a second for some hundred swings. Such a curve is drawn column by column of pixels instead, each from its least to its greatest value.
import uPlot from 'uplot'

const LONG = 20 // heights of the plot that a line may go up and down before columns are drawn

// Where a curve is in each column of pixels, and how far it goes up and down in all.
interface Columns {
  low: Float64Array // pixels, which grow downwards: the upper edge
  high: Float64Array
  travel: number
}
const found = new WeakMap<object, Columns>() // of the paths that uPlot keeps until something changes

export function curve(stepped: boolean): uPlot.Series.PathBuilder {
  const plain = stepped ? uPlot.paths.stepped!({ align: 1 }) : uPlot.paths.linear!()
  return (u, series, first, last) => {
    const columns = columnsOf(u, series, first, last, stepped)
    if (columns.travel < LONG * u.bbox.height) return plain(u, series, first, last)
    const paths = { stroke: null, fill: null, clip: null, flags: 0 }
    found.set(paths, columns)
    return paths
  }
}

// After uPlot drew a series: its columns, if it has them.
export function paint(u: uPlot, series: number): void {
  const columns = found.get((u.series[series] as { _paths?: object })._paths ?? u)
  if (!columns) return
  const { ctx, bbox } = u
  const [step, half] = [devicePixelRatio, (u.series[series].width! * devicePixelRatio) / 2]
  ctx.save()
  ctx.beginPath()
  ctx.rect(bbox.left, bbox.top, bbox.width, bbox.height)
  ctx.clip()
  ctx.fillStyle = (u.series[series].stroke as unknown as (u: uPlot, k: number) => string)(u, series)
  if (u.series[series].dash?.length) ctx.globalAlpha = 0.5 // another run: what is below it shows
  columns.low.forEach((low, k) => { if (low <= columns.high[k]) ctx.fillRect(bbox.left + (k + 0.5) * step - half, low - half, 2 * half, columns.high[k] - low + 2 * half) })
  ctx.restore()
}

function columnsOf(u: uPlot, series: number, first: number, last: number, stepped: boolean): Columns {
  const [x, y] = [u.data[0], u.data[series]]
  const [across, up] = [u.scales.x, u.scales[u.series[series].scale!]]
  const count = Math.max(1, Math.ceil(u.bbox.width / devicePixelRatio))
  const [wide, tall] = [u.bbox.width / devicePixelRatio / (across.max! - across.min!), u.bbox.height / (up.max! - up.min!)]
  const [low, high] = [new Float64Array(count).fill(Infinity), new Float64Array(count).fill(-Infinity)]
  const reach = (k: number, at: number): void => {
    if (at < low[k]) low[k] = at
    if (at > high[k]) high[k] = at
  }
  let [travel, xa, ya] = [0, NaN, NaN]
  for (let k = first; k <= last; k++) {
    const value = y[k]
    if (value === null || value === undefined) continue // a time of another run
    const [xb, yb] = [(x[k] - across.min!) * wide, u.bbox.top + (up.max! - value) * tall]
    if (xb >= 0 && xb < count) reach(Math.floor(xb), yb)
    if (xa === xa) {
      travel += Math.abs(yb - ya)
      for (let c = Math.max(1, Math.floor(xa) + 1); c <= Math.min(count - 1, xb); c++) { // the borders that it passes
        const at = stepped ? ya : ya + ((yb - ya) * (c - xa)) / (xb - xa)
        reach(c - 1, at)
        reach(c, at)
      }
      if (stepped && xb >= 0 && xb < count) reach(Math.floor(xb), ya)
    }
    ;[xa, ya] = [xb, yb]
  }
  return { low, high, travel }
}
