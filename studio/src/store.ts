// What the page knows. The server says what is; here is only what this page shows of it, and the changes that are not yet a case.
import { create } from 'zustand'
import { type Columns, type Frames, Link, Refused } from './link'
import { integratedOver, number, plain, symbol, typed } from './format'
import { keepIn } from './layout'
import { Pyramid } from './pyramid'
import type { Case, Fit, Model, Problem, Quantity, Run, Status, Study, Unit } from './protocol'

export type View = 'both' | 'diagram' | 'plots' | 'table' | 'charts' | 'events' | 'studies' | 'messages'
export interface Panel {
  id: number
  names: string[]
}
export interface Series {
  x: Float64Array
  pyramid: Pyramid
  unit: string
  doc: string
  states: string[]
}
export const EMPTY: Case = { name: '', until: '', start: '0', points: 0, rtol: 1e-6, initial: 'start', set: {}, inputs: {}, choices: {}, note: '' }

interface Studio {
  connected: boolean
  status: Status
  model: Model | null
  cases: Case[]
  runs: Run[]
  studies: Study[]
  printed: string
  draft: Case
  auto: boolean
  panels: Panel[]
  overlay: string[] // other runs that are drawn too
  current: string // the run that is looked at
  version: number // grows when columns arrive
  time: number
  playing: boolean
  view: View
  level: string
  selected: string // a component
  variable: string // a quantity that is explained
  problems: Problem[] // of the last thing that was refused
  units: Record<string, string>
  zoom: [number, number] | null
  editing: boolean
  layout: Record<string, Record<string, number[]>>
  history: { undo: number; redo: number }
  seen: string // a failed run whose message was closed
  report: string
  fit: Fit | null
}

const kept = <T,>(key: string, otherwise: T): T => {
  try {
    return (JSON.parse(localStorage.getItem(`acausal.${key}`) ?? 'null') as T) ?? otherwise
  } catch {
    return otherwise
  }
}
export const keep = (key: string, value: unknown): void => {
  try {
    localStorage.setItem(`acausal.${key}`, JSON.stringify(value))
  } catch {
    // a browser that keeps nothing
  }
}

export const useStudio = create<Studio>(() => ({
  connected: false,
  status: { phase: 'loading', text: 'Connecting …', source: '', problems: [], printed: '', read_only: false },
  model: null,
  cases: [],
  runs: [],
  studies: [],
  printed: '',
  draft: EMPTY,
  auto: kept('auto', true),
  panels: [],
  overlay: [],
  current: '',
  version: 0,
  time: 0,
  playing: false,
  view: kept<View>('view', 'both'),
  level: '',
  selected: '',
  variable: '',
  problems: [],
  units: kept('units', {}),
  zoom: null,
  editing: false,
  layout: {},
  history: { undo: 0, redo: 0 },
  seen: '',
  report: '',
  fit: null,
}))
const { getState: get, setState: set } = useStudio
Object.assign(window, { acausal: useStudio }) // for measurements, and for whoever is curious in the console

// --- columns ------------------------------------------------------------------------------------------------------------------
const columns = new Map<string, Map<string, Series>>()
const asked = new Set<string>()
export const seriesOf = (run: string, name: string): Series | undefined => columns.get(run)?.get(name)

function take(run: string, found: Columns): void {
  const held = columns.get(run) ?? new Map<string, Series>()
  const x = found.values[0]
  found.columns.forEach((c, k) => held.set(c.name, { x, pyramid: new Pyramid(found.values[k + 1]), unit: c.unit, doc: c.doc, states: c.states }))
  columns.set(run, held)
  set((s) => ({ version: s.version + 1 }))
}

// Columns that are drawn and not here yet.
export function need(run: string, names: string[]): void {
  const missing = names.filter((n) => !seriesOf(run, n) && !asked.has(`${run} ${n}`))
  const state = get().runs.find((r) => r.id === run)?.state
  if (!missing.length || !state || state === 'queued' || state === 'running') return
  missing.forEach((n) => asked.add(`${run} ${n}`))
  link.columns(run, missing).then((c) => take(run, c), () => missing.forEach((n) => asked.delete(`${run} ${n}`)))
}

const drop = (run: string): void => {
  columns.delete(run)
  for (const key of [...asked]) if (key.startsWith(run)) asked.delete(key)
}

// Values that a diagram plays.
let frames: { run: string; key: string; reached: number; data: Frames } | null = null
export async function framesOf(run: string, names: string[]): Promise<Frames | null> {
  const key = names.join(' ')
  const reached = get().runs.find((r) => r.id === run)?.time ?? 0
  if (frames?.run === run && frames.key === key && frames.reached === reached) return frames.data
  try {
    const data = await link.frames(run, names, 600)
    frames = { run, key, data, reached }
    return data
  } catch {
    return null
  }
}

// --- notices ------------------------------------------------------------------------------------------------------------------
export const link = new Link(
  (notice, data) => {
    const hear: Record<string, (d: any) => void> = {
      hello: (d) => {
        const [going, first] = [get().runs.filter(isGoing), !get().current]
        set({ status: d.status, cases: d.cases, studies: d.studies, printed: d.status.printed, layout: d.layout, history: { undo: d.undo, redo: d.redo } })
        listed(d.runs)
        if (d.model) opened(d.model)
        const last = d.runs.at(-1)
        if (last && first) look(last.id)
        for (const { id } of going) { // the line broke meanwhile: their columns came only as far as it held, and nobody said that they are over
          drop(id)
          const now = get().runs.find((r) => r.id === id)
          if (now) ran(now)
        }
      },
      status: (d) => set({ status: d, printed: d.printed }),
      model: (d: Model | null) => (d ? opened(d) : set({ model: null })),
      cases: (d) => set({ cases: d }),
      layout: (d) => set({ layout: d }),
      history: (d) => set({ history: d }),
      until: (d: number) => { const m = get().model; if (m) opened({ ...m, until: d }) },
      runs: listed,
      run: ran,
      study: (d: Study) => set((s) => ({ studies: [...s.studies.filter((x) => x.id !== d.id), d] })),
      fit: (d: Fit) => set({ fit: d }),
      printed: (d) => set({ printed: d }),
    }
    hear[notice]?.(data)
  },
  (run, found, final) => {
    take(run, found)
    if (!final && get().current !== run) set({ current: run })
  },
  (connected) => set({ connected }),
)

keepIn({ recall: (key) => link.ask('recall', { key }), remember: (key, text) => void link.ask('remember', { key, text }).catch(() => undefined) })

export function opened(model: Model): void {
  const before = get().model
  integratedOver(model.time[1])
  const names = new Set(model.parts.flatMap((p) => p.quantities.map((q) => plain(q.path))))
  const has = (name: string) => names.has(plain(name.replace(/\[[\d,]+\]/g, (m) => m.replace(/\d+/g, '*'))))
  set((s) => {
    const panels = s.panels.map((p) => ({ ...p, names: p.names.filter(has) })).filter((p) => p.names.length)
    const fresh = model.plots.map((names, k) => ({ id: k + 1, names }))
    const guessed = !s.draft.until || (before !== null && s.draft.until === typed(before.until))
    const draft = guessed ? { ...s.draft, until: model.until ? typed(model.until) : '' } : s.draft
    // nothing is there yet: somebody wants to draw
    const empty = before === null && model.parts.length === 1 && !model.parts[0].quantities.length && model.written.includes(model.title)
    const begin: Partial<Studio> = empty ? { editing: true, view: 'diagram' } : {}
    return { ...begin, model, panels: panels.length ? panels : fresh, draft, selected: model.parts.some((p) => p.path === s.selected) ? s.selected : '', level: before && before.title === model.title ? s.level : '' }
  })
}

// All runs that there are: what this page holds of others goes.
function listed(runs: Run[]): void {
  const ids = new Set(runs.map((r) => r.id))
  for (const id of columns.keys()) if (!ids.has(id)) drop(id)
  set((s) => ({ runs, overlay: s.overlay.filter((r) => ids.has(r)), current: ids.has(s.current) ? s.current : (runs.at(-1)?.id ?? '') }))
}

let stale = false // something changed while a run was going on
function ran(run: Run): void {
  const known = get().runs.some((r) => r.id === run.id)
  set((s) => ({ runs: known ? s.runs.map((r) => (r.id === run.id ? run : r)) : [...s.runs, run] }))
  if (isGoing(run)) return
  if (run.id === mine) {
    const ended = run.state === 'finished' ? run.until : run.time
    for (const name of [...(columns.get(run.id)?.keys() ?? [])]) if (!get().panels.some((p) => p.names.includes(name))) columns.get(run.id)!.delete(name)
    for (const key of [...asked]) if (key.startsWith(run.id)) asked.delete(key)
    set((s) => ({ current: run.id, version: s.version + 1, time: s.current === run.id || s.time > 0 ? Math.min(Math.max(s.time, 0), ended) || ended : ended }))
  } else if (!get().current) look(run.id)
  catchUp()
}

// What changed while a run was going on, this page's or the one it looks at, is run when that is over.
function catchUp(): void {
  if (!stale || asking || running()) return
  stale = false
  again()
}

// --- what a user does ---------------------------------------------------------------------------------------------------------
export const refuse = (error: unknown): void => set({ problems: error instanceof Refused ? error.problems : [{ ...EMPTY_PROBLEM, what: String(error) }] })
const EMPTY_PROBLEM: Problem = { what: '', component: '', equation: '', file: '', line: 0, source: '', details: [], remedy: '' }

let mine = '' // the run that this page asked for last
let asking = 0 // runs that were asked for and are not known yet
let trial = '' // the run that sliders repeat: each takes the place of the one before
export const isGoing = (run: Run): boolean => run.state === 'queued' || run.state === 'running'
export const running = (): Run | undefined => get().runs.find((r) => (r.id === mine || r.id === get().current) && isGoing(r))

export async function start(instead = ''): Promise<void> {
  const { draft, panels } = get()
  stale = false // this one has all changes
  set({ problems: [], zoom: null })
  asking += 1
  try {
    const run = await link.ask('run', { case: draft, names: [...new Set(panels.flatMap((p) => p.names))], instead }).finally(() => { asking -= 1 })
    mine = run.id
    if (!get().auto || !instead) trial = ''
    const now = get().runs.find((r) => r.id === run.id)
    if (now) ran(now) // it may be over already
  } catch (error) {
    refuse(error)
    catchUp()
  }
}

// A run of each case, drawn over each other.
export async function runAll(cases: Case[]): Promise<void> {
  const names = [...new Set(get().panels.flatMap((p) => p.names))]
  set({ problems: [], zoom: null })
  try {
    const runs: string[] = []
    for (const one of cases) {
      const { id } = await link.ask('run', { case: one, names, instead: '' })
      await new Promise<void>((done) => {
        const over = () => { const r = get().runs.find((x) => x.id === id); return !!r && !isGoing(r) }
        if (over()) return done()
        const stop = useStudio.subscribe(() => { if (over()) { stop(); done() } })
      })
      runs.push(id)
    }
    set({ current: runs[0], overlay: runs.slice(1), view: 'plots', time: get().runs.find((r) => r.id === runs[0])?.time ?? 0 })
  } catch (error) {
    refuse(error)
  }
}

// A parameter was moved: run again, as soon as the run before is through.
function again(): void {
  if (!get().auto || !get().current) return
  if (asking || running()) {
    stale = true
    return
  }
  trial = mine && get().runs.find((r) => r.id === mine) ? mine : ''
  void start(trial && !get().overlay.includes(trial) ? trial : '')
}

// Go on where the last run ended, as long again.
export async function goOn(): Promise<void> {
  const run = get().runs.find((r) => r.id === get().current)
  if (!run) return
  const names = [...new Set(get().panels.flatMap((p) => p.names))]
  try {
    mine = run.id
    await link.ask('continue', { run: run.id, until: String(run.time + (run.until - (Number(run.case.start) || 0))), names })
  } catch (error) {
    refuse(error)
  }
}
export const canGoOn = (run: Run): boolean => run.state === 'finished' && run.id === mine

export function cancel(): void {
  const run = running()
  stale = false
  if (run) link.ask('cancel', { run: run.id }).catch(refuse)
}

export function look(run: string): void {
  const found = get().runs.find((r) => r.id === run)
  set({ current: run, time: found ? found.time : 0, zoom: null })
}
export const toggleOverlay = (run: string): void => set((s) => ({ overlay: s.overlay.includes(run) ? s.overlay.filter((r) => r !== run) : [...s.overlay, run] }))

type Layer = 'set' | 'inputs'
export function change(layer: Layer, path: string, value: Case['set'][string] | undefined, rerun = true): void {
  set((s) => {
    const next = { ...s.draft[layer] }
    if (value === undefined) delete next[path]
    else next[path] = value
    return { draft: { ...s.draft, [layer]: next } }
  })
  performance.mark('acausal:changed')
  if (rerun) again()
}
export const adjust = (what: Partial<Case>): void => set((s) => ({ draft: { ...s.draft, ...what } }))

export function choose(name: string): void {
  const found = get().cases.find((c) => c.name === name)
  const until = get().draft.until
  set({ draft: found ? { ...found, until: found.until || until } : { ...EMPTY, until } })
  again()
}
export async function saveCase(name: string): Promise<void> {
  try {
    const cases = await link.ask('save_case', { case: { ...get().draft, name }, before: '' })
    set((s) => ({ cases, draft: { ...s.draft, name } })) // what was typed meanwhile stays
  } catch (error) {
    refuse(error)
  }
}

export function plot(name: string, panel?: number): void {
  set((s) => {
    if (panel === undefined) {
      const unit = unitOf(name)
      const fit = s.panels.find((p) => p.names.some((n) => unitOf(n) === unit)) ?? s.panels.find((p) => !p.names.length)
      if (fit?.names.includes(name)) return { panels: s.panels.map((p) => (p === fit ? { ...p, names: p.names.filter((n) => n !== name) } : p)) }
      if (!fit) return { panels: [...s.panels, { id: nextPanel(s.panels), names: [name] }] }
      panel = fit.id
    }
    return { panels: s.panels.map((p) => (p.id === panel && !p.names.includes(name) ? { ...p, names: [...p.names, name] } : p)) }
  })
}
export const unplot = (name: string, panel: number): void => set((s) => ({ panels: s.panels.map((p) => (p.id === panel ? { ...p, names: p.names.filter((n) => n !== name) } : p)) }))
export const addPanel = (names: string[] = []): void => set((s) => ({ panels: [...s.panels, { id: nextPanel(s.panels), names }] }))
export const removePanel = (id: number): void => set((s) => ({ panels: s.panels.filter((p) => p.id !== id) }))
const nextPanel = (panels: Panel[]): number => Math.max(0, ...panels.map((p) => p.id)) + 1

// --- building -----------------------------------------------------------------------------------------------------------------
// The name of what was added; null if the studio refused.
export async function edit(kind: string, edits: Record<string, unknown>[]): Promise<string | null> {
  try {
    set({ problems: [] })
    return await link.ask('edit', { kind, edits })
  } catch (error) {
    refuse(error)
    return null
  }
}
export const undo = (): void => void link.ask('undo', {}).catch(refuse)
export const redo = (): void => void link.ask('redo', {}).catch(refuse)

export const show = (view: View): void => {
  keep('view', view)
  set({ view })
}
export const setUnit = (unit: string, symbol: string): void => set((s) => {
  const units = { ...s.units, [unit]: symbol }
  keep('units', units)
  return { units }
})

// --- what is what -------------------------------------------------------------------------------------------------------------
const ONE: Unit = { symbol: '', factor: 1, offset: 0 }
export function shownUnit(unit: string, difference = false): Unit {
  const { model, units } = get()
  const all = (model?.units[unit] ?? []).filter((u) => !difference || u.offset === 0)
  return all.find((u) => u.symbol === units[unit]) ?? all[0] ?? { ...ONE, symbol: unit }
}

let index: { model: Model; by: Map<string, Quantity> } | null = null
export function quantity(name: string): Quantity | undefined {
  const model = get().model
  if (!model) return undefined
  if (index?.model !== model) index = { model, by: new Map(model.parts.flatMap((p) => p.quantities.map((q) => [plain(q.path), q] as const))) }
  return index.by.get(name.replace(/\[[\d,]+\]/g, '')) ?? index.by.get(name) ?? index.by.get(plain(name))
}
// What a run is called: its case, or what it changes, in the units of the page.
export function saidOf(run: Run): string {
  const told = ([path, v]: [string, unknown]) => {
    if (typeof v === 'object' && v !== null) return `${path} = …`
    if (typeof v !== 'number') return `${path} = ${String(v)}`
    const unit = unitFor(path, quantity(path)?.unit ?? '')
    return `${path} = ${number(v * unit.factor + unit.offset, 4)} ${symbol(unit.symbol)}`.trim()
  }
  const all = Object.entries({ ...run.case.set, ...run.case.inputs }).map(told)
  return run.case.name || (all.length ? all.slice(0, 2).join(', ') + (all.length > 2 ? ', …' : '') : 'as declared')
}
export const unitFor = (name: string, unit: string): Unit => shownUnit(unit, quantity(name)?.difference)
export const unitOf = (name: string): string => quantity(name)?.unit ?? [...columns.values()].map((c) => c.get(name)?.unit).find((u) => u !== undefined) ?? ''
