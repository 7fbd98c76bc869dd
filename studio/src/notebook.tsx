// The studio's diagram and plots in a cell of a notebook: everything they show came with the cell, and there is no server to ask.
import { MantineProvider } from '@mantine/core'
import '@mantine/core/styles.css'
import elkText from 'elkjs/lib/elk-worker.min.js?raw'
import { createRoot } from 'react-dom/client'
import { DiagramView } from './Diagram'
import { integratedOver } from './format'
import { Segments } from './Light'
import { layoutIn } from './layout'
import { NOTHING, Refused } from './link'
import { Plots } from './Plot'
import type { Column, Diagram, Model, Run } from './protocol'
import { link, useStudio, type View } from './store'
import './style.css'
import { theme } from './theme'
import { TimeBar } from './TimeBar'

interface Still {
  model: Model
  run: Run | null
  views: View[]
  plots: string[][]
  columns: Column[]
  frames: Column[]
  diagrams: Record<string, Diagram>
  blocks: Record<string, [number, number]> // where each column of numbers is: `time`, `column 0` …, `times`, `frame 0` …
}

function answersOf({ columns, frames, diagrams, blocks }: Still, numbers: ArrayBuffer): (ask: string, given: Record<string, any>) => Promise<unknown> {
  const block = (name: string): Float64Array => new Float64Array(numbers, 8 * blocks[name][0], blocks[name][1])
  const among = (all: Column[], names: string[]): number[] => names.map((n) => all.findIndex((c) => c.name === n)).filter((k) => k >= 0)
  const asks: Record<string, (given: Record<string, any>) => unknown> = {
    diagram: ({ path }) => diagrams[path],
    columns: ({ names }) => {
      const found = among(columns, names)
      return { columns: found.map((k) => columns[k]), values: [block('time'), ...found.map((k) => block(`column ${k}`))] }
    },
    frames: ({ names }) => {
      const found = among(frames, names)
      const times = block('times')
      const values = new Float64Array(found.length * times.length)
      found.forEach((k, i) => values.set(block(`frame ${k}`), i * times.length))
      return { columns: found.map((k) => frames[k]), times: [...times], values }
    },
    recall: () => '',
    remember: () => null,
    place: () => null,
    shown: () => null,
  }
  return async (ask, given) => {
    const found = asks[ask]?.(given)
    if (found === undefined) throw new Refused([{ ...NOTHING, what: 'This is not in the notebook: `acausal studio` has it.' }])
    return found
  }
}

function Cell({ views }: { views: View[] }) {
  const view = useStudio((s) => s.view)
  return (
    <div className="studio cell"><main className="work">
      {views.length > 1 && <div className="work-head"><Segments value={view} onChange={(v) => useStudio.setState({ view: v })} data={views.map((v) => ({ value: v, label: v === 'both' ? 'Diagram + plots' : v === 'plots' ? 'Plots' : 'Diagram' }))} label="View" /></div>}
      <div className="work-body" data-view={view}>
        {view !== 'plots' && <div className="work-diagram"><DiagramView /></div>}
        {view !== 'diagram' && <Plots />}
      </div>
      <TimeBar />
    </main></div>
  )
}

function show(still: Still, numbers: ArrayBuffer): void {
  layoutIn(() => new Worker(URL.createObjectURL(new Blob([elkText], { type: 'text/javascript' }))))
  link.answers = answersOf(still, numbers)
  integratedOver(still.model.time[1])
  useStudio.setState({
    connected: true, status: { phase: 'ready', text: '', source: '', problems: [], printed: '', read_only: true }, model: still.model, runs: still.run ? [still.run] : [], current: still.run?.id ?? '',
    time: still.run?.time ?? 0, panels: still.plots.map((names, k) => ({ id: k + 1, names })), view: still.views[0], auto: false,
  })
  createRoot(document.getElementById('root')!).render(<MantineProvider theme={theme} defaultColorScheme="auto"><Cell views={still.views} /></MantineProvider>)
}

addEventListener('message', ({ data }) => { if (data?.acausal) show(JSON.parse(data.acausal), data.numbers) }, { once: true })
