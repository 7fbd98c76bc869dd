// Generated from src/acausal/studio/protocol.py by `python -m acausal.studio.typescript`. Change it there.

export interface Unit {
  symbol: string
  factor: number
  offset: number
}

export interface Quantity {
  path: string
  name: string
  role: 'parameter' | 'constant' | 'input' | 'variable' | 'output' | 'discrete' | 'expression'
  unit: string
  doc: string
  shape: number[]
  group: string
  value: number | string | boolean | unknown[] | null
  start: number | string | boolean | unknown[] | null
  minimum: number | null
  maximum: number | null
  bound: string
  connected: boolean
  fixed: boolean
  state: boolean
  flow: boolean
  difference: boolean
  states: string[]
  place: string
}

export interface Part {
  path: string
  name: string
  kind: string
  doc: string
  parent: number
  shape: number[]
  composite: boolean
  quantities: Quantity[]
}

export interface Choice {
  name: string
  value: number | string | boolean | unknown[] | null
  doc: string
}

export interface Problem {
  what: string
  component: string
  equation: string
  file: string
  line: number
  source: string
  details: string[]
  remedy: string
}

export interface Leg {
  part: string
  a: number
  b: number
}

export interface Circuit {
  medium: string
  ports: string[]
  legs: Leg[]
  charts: string[]
}

export interface ChartLine {
  family: string
  label: string
  colour: string
  start: number
  end: number
}

export interface Chart {
  medium: string
  kind: string
  x: string
  y: string
  logarithmic: boolean
  window: number[]
  lines: ChartLine[]
  ports: string[]
  legs: Leg[]
  between: number
  columns: string[]
}

export interface Model {
  title: string
  doc: string
  source: string
  version: number
  unknowns: number
  state_count: number
  until: number
  parts: Part[]
  choices: Choice[]
  units: Record<string, Unit[]>
  plots: string[][]
  seconds: number
  warnings: string[]
  runs: boolean
  free: string[] | null
  circuits: Circuit[]
  written: string[]
  time: string[]
  diagram: Diagram | null
}

export interface Piece {
  name: string
  module: string
  group: string
  doc: string
  icon: string
  ports: string[]
}

export interface Port {
  name: string
  kind: string
  side: 'in' | 'out' | ''
  doc: string
  free: boolean
  flow: string
}

export interface Shown {
  path: string
  label: string
  unit: string
  difference: boolean
}

export interface DiagramPart {
  id: string
  path: string
  name: string
  kind: string
  doc: string
  shape: number[]
  composite: boolean
  border: boolean
  icon: string
  ports: Port[]
  shown: Shown[]
}

export interface Wire {
  id: string
  source: string
  source_port: string
  target: string
  target_port: string
  kind: string
  place: string
  flow: string
}

export interface Diagram {
  path: string
  title: string
  parts: DiagramPart[]
  wires: Wire[]
  connections: number
}

export interface Case {
  name: string
  until: string
  start: string
  points: number
  rtol: number
  initial: 'start' | 'steady'
  set: Record<string, number | string | boolean | unknown[] | null>
  inputs: Record<string, number | string | boolean | unknown[] | null>
  choices: Record<string, number | string | boolean | unknown[] | null>
  note: string
}

export interface Run {
  id: string
  number: number
  case: Case
  state: 'queued' | 'running' | 'finished' | 'failed' | 'cancelled'
  begun: number
  fraction: number
  time: number
  seconds: number
  until: number
  message: string
  problems: Problem[]
  points: number
  events: number
  steps: number
  version: number
  kept: boolean
}

export interface Column {
  name: string
  unit: string
  doc: string
  states: string[]
}

export interface EventRow {
  time: number
  component: string
  cause: string
  place: string
  changes: string[]
}

export interface Band {
  state: string
  start: number
  end: number
  cause: string
}

export interface StateLine {
  path: string
  states: string[]
  bands: Band[]
}

export interface EventList {
  run: string
  count: number
  rows: EventRow[]
  states: StateLine[]
}

export interface InitialRow {
  path: string
  unit: string
  target: number
  fixed: boolean
  found: number
  difference: boolean
}

export interface Fact {
  label: string
  text: string
  paths: string[]
}

export interface Explanation {
  path: string
  title: string
  facts: Fact[]
}

export interface StudyRow {
  number: number
  values: number[]
  results: (number | null)[]
  state: string
  message: string
}

export interface Study {
  id: string
  case: string
  inputs: string[]
  outputs: string[]
  units: string[]
  rows: StudyRow[]
  total: number
  state: 'running' | 'finished' | 'failed' | 'cancelled'
  message: string
  problems: Problem[]
}

export interface DataFile {
  path: string
  name: string
  columns: string[]
}

export interface FitRow {
  path: string
  before: number | null
  value: number
  deviation: number | null
  low: number | null
  high: number | null
}

export interface FitCurve {
  name: string
  unit: string
  time: number[]
  measured: (number | null)[]
  computed: (number | null)[]
}

export interface Fit {
  id: string
  case: string
  file: string
  state: 'running' | 'finished' | 'failed' | 'cancelled'
  message: string
  told: string[]
  rows: FitRow[]
  curves: FitCurve[]
  problems: Problem[]
}

export interface Status {
  phase: 'loading' | 'ready' | 'failed'
  text: string
  source: string
  problems: Problem[]
  printed: string
  read_only: boolean
}

export interface Hello {
  client: number
  status: Status
  model: Model | null
  cases: Case[]
  runs: Run[]
  studies: Study[]
  layout: Record<string, Record<string, number[]>>
  undo: number
  redo: number
}

export interface Asks {
  run: { given: { case: Case; names: string[]; instead: string }; answer: Run }
  continue: { given: { run: string; until: string; names: string[] }; answer: Run }
  cancel: { given: { run: string }; answer: null }
  forget: { given: { run: string }; answer: null }
  columns: { given: { run: string; names: string[] }; answer: Column[] }
  frames: { given: { run: string; names: string[]; count: number }; answer: Column[] }
  diagram: { given: { path: string }; answer: Diagram }
  chart: { given: { run: string; medium: string; kind: string }; answer: Chart }
  explain: { given: { path: string }; answer: Explanation }
  events: { given: { run: string }; answer: EventList }
  report: { given: { run: string }; answer: string }
  initial: { given: { run: string }; answer: InitialRow[] }
  save_case: { given: { case: Case; before: string }; answer: Case[] }
  delete_case: { given: { name: string }; answer: Case[] }
  export: { given: { run: string; names: string[]; form: string }; answer: string }
  study: { given: { case: Case; over: Record<string, unknown>; outputs: string[]; draws: number }; answer: Study }
  files: { given: Record<string, never>; answer: DataFile[] }
  upload: { given: { name: string; text: string }; answer: DataFile }
  fit: { given: { case: Case; file: string; free: Record<string, (number | null)[]> }; answer: Fit }
  cancel_study: { given: { study: string }; answer: null }
  palette: { given: Record<string, never>; answer: Piece[] }
  edit: { given: { kind: string; edits: unknown[] }; answer: string }
  undo: { given: Record<string, never>; answer: null }
  redo: { given: Record<string, never>; answer: null }
  shown: { given: Record<string, never>; answer: null }
  recall: { given: { key: string }; answer: string }
  remember: { given: { key: string; text: string }; answer: null }
  place: { given: { level: string; at: Record<string, number[]> }; answer: null }
  choose: { given: { choices: Record<string, unknown> }; answer: null }
  open: { given: { target: string }; answer: null }
  reload: { given: Record<string, never>; answer: null }
}

export interface Notices {
  hello: Hello
  status: Status
  model: Model | null
  cases: Case[]
  runs: Run[]
  run: Run
  live: Column[]
  study: Study
  fit: Fit
  printed: string
  layout: Record<string, Record<string, number[]>>
  history: Record<string, number>
  until: number
}
