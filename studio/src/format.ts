// Numbers, units and times as people read them.
import type { Quantity, Unit } from './protocol'

export function number(value: number | null | undefined, digits = 5): string {
  if (value === null || value === undefined || Number.isNaN(value)) return '–'
  if (value === 0) return '0'
  const size = Math.abs(value)
  if (size >= 1e6 || size < 1e-3) return value.toExponential(Math.max(0, digits - 2)).replace(/\.?0+e/, 'e').replace('e+', 'e')
  return String(Number(value.toPrecision(digits)))
}

// On a diagram the same number of characters all the time: nothing jumps while it plays.
export function steady(value: number, largest = 0): string {
  const size = Math.abs(value)
  if (!Number.isFinite(value)) return '–'
  if (size < 1e-6 * largest || size < 1e-12) return '0.00' // what is left of a flow that stopped
  if (size >= 1e5 || (size < 1e-2 && size > 0)) return value.toExponential(2).replace('e+', 'e')
  return value.toFixed(size >= 1000 ? 0 : size >= 100 ? 1 : 2)
}

const CLOCK: [number, string][] = [[86400, 'day'], [3600, 'h'], [60, 'min'], [1, 's'], [1e-3, 'ms'], [1e-6, 'µs']]

// What the model is integrated over, unless it is a time in seconds: years, or a height in m.
let independent = 's'
export const integratedOver = (unit: string): void => { independent = unit }

// The unit in which a span of time is spoken of.
export const clock = (span: number): [number, string] => {
  if (independent !== 's') return [1, symbol(independent)]
  const size = Math.abs(span)
  if (size >= 3 * 86400) return CLOCK[0]
  if (size >= 2 * 3600) return CLOCK[1]
  if (size >= 300) return CLOCK[2]
  return size >= 0.5 || size === 0 ? CLOCK[3] : size >= 5e-4 ? CLOCK[4] : CLOCK[5]
}

export function time(t: number, span = t): string {
  const [factor, unit] = clock(span)
  return `${number(t / factor, 5)} ${unit}`
}

// A time as one would type it.
export const typed = (t: number): string => {
  if (independent !== 's') return `${t} ${independent === '1' ? '' : independent}`.trim()
  const [factor, unit] = CLOCK.slice(0, 3).find(([f]) => t >= f && t % f === 0) ?? [1, '']
  return `${t / factor} ${unit}`.trim()
}

export function seconds(s: number): string {
  if (s < 0.0995) return `${Math.max(1, Math.round(1000 * s))} ms`
  if (s < 90) return `${number(s, s < 10 ? 2 : 3)} s`
  return s < 5400 ? `${Math.round(s / 60)} min` : `${number(s / 3600, 2)} h`
}

export const symbol = (unit: string): string => unit.replaceAll('^2', '²').replaceAll('^3', '³').replaceAll('**', '^').replaceAll('*', '·').replace('degF', '°F').replace('ohm', 'Ω').replace(/^u(?=[A-Z])/, 'µ')

export const shownIn = (value: number, unit: Unit): number => value * unit.factor + unit.offset
export const declaredFrom = (shown: number, unit: Unit): number => (shown - unit.offset) / unit.factor

// The path by which a parameter of an array is set: `wall.layer.thickness` means all of them.
export const plain = (path: string): string => path.replace(/\[[*,]+\]/g, '')

// Elements of an array, the first `most` of them: `T[*]` with shape [3] is `T[0]`, `T[1]`, `T[2]`.
export function elements(q: Quantity, most = 200): string[] {
  if (!q.path.includes('*')) return [q.path]
  const total = q.shape.reduce((a, b) => a * b, 1)
  const out: string[] = []
  for (let n = 0; n < Math.min(total, most); n++) {
    let rest = n
    const index = q.shape.map((_, k) => {
      const below = q.shape.slice(k + 1).reduce((a, b) => a * b, 1)
      const i = Math.floor(rest / below)
      rest %= below
      return i
    })
    out.push(q.path.replace(/\*/g, () => String(index.shift())))
  }
  return out
}

export const count = (n: number, what: string): string => `${n.toLocaleString('en').replaceAll(',', '\u202f')} ${what}${n === 1 ? '' : 's'}`
