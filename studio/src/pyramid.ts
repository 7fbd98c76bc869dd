// A plot has some thousand pixels, whatever the run has. Of each column: minima and maxima of buckets of 32, 256, 2048 … points, made once.
const FIRST = 32
const RATIO = 8

interface Level {
  size: number
  min: Float64Array
  max: Float64Array
}

export class Pyramid {
  readonly levels: Level[] = []
  constructor(readonly y: Float64Array) {
    for (let size = FIRST; size * 256 < y.length; size *= RATIO) this.levels.push(this.level(size))
  }

  private level(size: number): Level {
    const count = Math.ceil(this.y.length / size)
    const below = this.levels[this.levels.length - 1]
    const [lows, highs, each] = below ? [below.min, below.max, RATIO] : [this.y, this.y, size]
    const min = new Float64Array(count)
    const max = new Float64Array(count)
    for (let k = 0; k < count; k++) {
      const end = Math.min(lows.length, (k + 1) * each)
      let low = Infinity
      let high = -Infinity
      for (let j = k * each; j < end; j++) {
        if (lows[j] < low) low = lows[j]
        if (highs[j] > high) high = highs[j]
      }
      min[k] = low
      max[k] = high
    }
    return { size, min, max }
  }

  // Values for the points that `shown` chose: two for each bucket, or all of them.
  pick(range: Range): Float64Array {
    if (range.size === 0) return this.y.subarray(range.first, range.last)
    const level = this.levels.find((l) => l.size === range.size)!
    const out = new Float64Array(2 * (range.last - range.first))
    const { y } = this
    for (let k = range.first, i = 0; k < range.last; k++) {
      const rises = y[k * range.size] <= y[Math.min(y.length, (k + 1) * range.size) - 1] // a smooth curve stays one
      out[i++] = rises ? level.min[k] : level.max[k]
      out[i++] = rises ? level.max[k] : level.min[k]
    }
    return out
  }
}

// A range of points (size 0) or of buckets of one size.
export interface Range {
  size: number
  first: number
  last: number
}

const before = (x: Float64Array, at: number): number => {
  let a = 0
  let b = x.length
  while (a < b) {
    const m = (a + b) >> 1
    if (x[m] < at) a = m + 1
    else b = m
  }
  return a
}

export const indexAt = (x: Float64Array | number[], t: number): number => {
  let a = 0
  let b = x.length - 1
  while (a < b) {
    const m = (a + b + 1) >> 1
    if (x[m] <= t) a = m
    else b = m - 1
  }
  return a
}

export function shown(x: Float64Array, from: number, to: number, pixels: number): Range {
  const first = Math.max(0, before(x, from) - 1)
  const last = Math.min(x.length, before(x, to) + 2)
  let size = 0
  for (let s = FIRST; s * 256 < x.length; s *= RATIO) if ((last - first) / s >= pixels) size = s
  if (size === 0 || last - first <= 4 * pixels) return { size: 0, first, last }
  return { size, first: Math.floor(first / size), last: Math.ceil(last / size) }
}

export function times(x: Float64Array, range: Range): Float64Array {
  if (range.size === 0) return x.subarray(range.first, range.last)
  const out = new Float64Array(2 * (range.last - range.first))
  for (let k = range.first, i = 0; k < range.last; k++) {
    out[i++] = x[k * range.size]
    out[i++] = x[Math.min(x.length - 1, k * range.size + (range.size >> 1))]
  }
  return out
}
