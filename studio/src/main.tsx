import { Button, MantineProvider } from '@mantine/core'
import '@mantine/core/styles.css'
import { StrictMode, useEffect } from 'react'
import { createRoot } from 'react-dom/client'
import workerUrl from 'elkjs/lib/elk-worker.min.js?url'
import { Charts } from './Charts'
import { DiagramView } from './Diagram'
import { Events } from './Events'
import { Header } from './Header'
import { Inspector } from './Inspector'
import { layoutIn } from './layout'
import { Segments } from './Light'
import { Plots } from './Plot'
import { Alerts, Messages, ProblemCard } from './Problems'
import { cancel, link, redo, refuse, show, start, undo, useStudio, type View } from './store'
import { Studies } from './Studies'
import './style.css'
import { Table } from './Table'
import { theme } from './theme'
import { TimeBar } from './TimeBar'
import { Tree } from './Tree'

const VIEWS: { value: View; label: string }[] = [
  { value: 'both', label: 'Diagram + plots' }, { value: 'diagram', label: 'Diagram' }, { value: 'plots', label: 'Plots' }, { value: 'table', label: 'Table' },
  { value: 'charts', label: 'Charts' }, { value: 'events', label: 'States & events' }, { value: 'studies', label: 'Studies' }, { value: 'messages', label: 'Messages' },
]

// Charts are for plants in which a medium flows.
const useViews = (): typeof VIEWS => {
  const none = useStudio((s) => !s.model?.circuits.length)
  return none ? VIEWS.filter((v) => v.value !== 'charts') : VIEWS
}

function Work() {
  const views = useViews()
  const asked = useStudio((s) => s.view)
  const view = views.some((v) => v.value === asked) ? asked : 'both'
  return (
    <main className="work">
      <div className="work-head"><Segments value={view} onChange={show} data={views} label="View" /></div>
      <Alerts />
      <div className="work-body" data-view={view}>
        {(view === 'both' || view === 'diagram') && <div className="work-diagram"><DiagramView /></div>}
        {(view === 'both' || view === 'plots') && <Plots />}
        {view === 'table' && <Table />}
        {view === 'charts' && <Charts />}
        {view === 'events' && <Events />}
        {view === 'studies' && <Studies />}
        {view === 'messages' && <Messages />}
      </div>
      <TimeBar />
    </main>
  )
}

// Before there is a model: what is going on, or why there is none.
function Waiting() {
  const status = useStudio((s) => s.status)
  const connected = useStudio((s) => s.connected)
  return (
    <main className="waiting">
      {status.phase === 'failed' ? (
        <>
          <h1>{status.text}</h1>
          {status.problems.map((p, k) => <ProblemCard key={k} problem={p} />)}
          {status.printed.trim() && <pre className="printed">{status.printed}</pre>}
          <p className="dim">Mend the file and save it: it is loaded again by itself.</p>
          <Button size="xs" variant="light" onClick={() => void link.ask('reload', {}).catch(refuse)}>Load it now</Button>
        </>
      ) : <h1 className="breathing" role="status">{connected ? status.text : 'Connecting to the studio …'}</h1>}
    </main>
  )
}

// What is open above the page is closed by Escape, and hears of it first; the run goes on.
const ABOVE = '[role="menu"], [role="dialog"], [role="listbox"]'

function useKeys(views: typeof VIEWS): void {
  useEffect(() => {
    let above = false
    const look = (e: KeyboardEvent) => { above = e.key === 'Escape' && document.querySelector(ABOVE) !== null }
    const hear = (e: KeyboardEvent) => {
      const typing = /^(INPUT|TEXTAREA|SELECT)$/.test((e.target as HTMLElement).tagName) && !/^(checkbox|radio|range)$/.test((e.target as HTMLInputElement).type)
      if (e.key === 'Enter' && (e.ctrlKey || e.metaKey)) void start()
      else if (typing) return
      else if (e.key.toLowerCase() === 'z' && (e.ctrlKey || e.metaKey) && useStudio.getState().editing) (e.shiftKey ? redo : undo)()
      else if (e.key === 'Escape' && !above) cancel()
      else if (e.key === ' ' && (e.target as HTMLElement).tagName !== 'BUTTON') useStudio.setState((s) => ({ playing: !s.playing }))
      else if (e.key >= '1' && e.key <= String(views.length)) show(views[Number(e.key) - 1].value)
      else if (e.key === '/') document.querySelector<HTMLInputElement>('[aria-label="Search quantities"]')?.focus()
      else return
      e.preventDefault()
    }
    addEventListener('keydown', look, true)
    addEventListener('keydown', hear)
    return () => { removeEventListener('keydown', look, true); removeEventListener('keydown', hear) }
  }, [views])
}

function Studio() {
  const model = useStudio((s) => s.model)
  useKeys(useViews())
  useEffect(() => { document.title = model ? `${model.title} – acausal studio` : 'acausal studio' }, [model])
  return (
    <div className="studio">
      <Header />
      {model ? <div className="desk"><Tree /><Work /><Inspector /></div> : <Waiting />}
    </div>
  )
}

layoutIn(() => new Worker(new URL(workerUrl, document.baseURI)))
link.start()
createRoot(document.getElementById('root')!).render(<StrictMode><MantineProvider theme={theme} defaultColorScheme="auto"><Studio /></MantineProvider></StrictMode>)
