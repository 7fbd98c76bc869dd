// What went wrong, where, and what to do.
import { ActionIcon, Button, UnstyledButton } from '@mantine/core'
import { useEffect, useState } from 'react'
import { Icon } from './icons'
import { NOTHING } from './link'
import type { Problem } from './protocol'
import { link, refuse, show, useStudio } from './store'

export function ProblemCard({ problem }: { problem: Problem }) {
  const component = problem.component.split(' (')[0]
  // a file with several models: each can be opened
  const choices = /which one is meant/.test(problem.what) ? problem.details.flatMap((d) => { const m = /^\s*(\S+\.py:\w+)(?:\s+(.*))?$/.exec(d); return m ? [[m[1], m[2] ?? '']] : [] }) : []
  const details = choices.length ? [] : problem.details.filter((d) => !(problem.source && d.startsWith('line:')))
  const reveal = () => {
    const parent = component.split('.').slice(0, -1).join('.')
    useStudio.setState((s) => ({ selected: component, level: parent && s.model?.parts.some((p) => p.path === parent) ? parent : '', view: s.view === 'messages' ? 'both' : s.view }))
  }
  return (
    <article className="problem">
      <h3><Icon name="warning" size={15} /> {problem.what}</h3>
      <dl>
        {component && <><dt>component</dt><dd><UnstyledButton className="link" onClick={reveal}>{problem.component}</UnstyledButton></dd></>}
        {problem.equation && <><dt>equation</dt><dd><code>{problem.equation}</code></dd></>}
        {problem.file && <><dt>at</dt><dd><code>{problem.file}:{problem.line}</code>{problem.source && problem.source !== problem.equation && <pre>{problem.source}</pre>}</dd></>}
        {details.length > 0 && <><dt>details</dt><dd><pre>{details.join('\n')}</pre></dd></>}
        {choices.length > 0 && <><dt>open</dt><dd className="choices">{choices.map(([target, doc]) => <Button key={target} size="compact-xs" variant="light" title={doc} onClick={() => void link.ask('open', { target }).catch(refuse)}>{target.split(':').at(-1)}</Button>)}</dd></>}
        {problem.remedy && <><dt>try</dt><dd className="remedy">{problem.remedy}</dd></>}
      </dl>
    </article>
  )
}

// What stops the user is shown over the work, until it is read.
export function Alerts() {
  const problems = useStudio((s) => s.problems)
  const status = useStudio((s) => s.status)
  const model = useStudio((s) => s.model)
  const run = useStudio((s) => s.runs.find((r) => r.id === s.current))
  const failed = run?.state === 'failed' ? run : undefined
  const seen = useStudio((s) => s.seen)
  const lost = useLost()
  if (lost) return <Strip title="The studio does not answer: it was ended, or this machine slept." problems={[{ ...NOTHING, what: 'Nothing that was saved is lost. After sleep, this page comes back by itself.', remedy: `If the studio was ended, start it again and open the address that it prints: acausal studio ${status.source}` }]} />
  // What could not be done may follow from a file that cannot be loaded: neither hides the other.
  const asked = problems.length > 0 && <Strip title="This could not be done" problems={problems} close={() => useStudio.setState({ problems: [] })} />
  const broken = status.phase === 'failed' && model && <Strip title={status.text} problems={status.problems} />
  if (asked || broken) return <>{asked}{broken}</>
  if (failed && seen !== failed.id) return <Strip title={failed.message} problems={failed.problems.filter((p) => p.what !== failed.message)} close={() => useStudio.setState({ seen: failed.id })} more />
  return null
}

// A short interruption is no news.
function useLost(): boolean {
  const connected = useStudio((s) => s.connected)
  const [lost, setLost] = useState(false)
  useEffect(() => {
    setLost(false)
    if (connected) return
    const timer = setTimeout(() => setLost(true), 2000)
    return () => clearTimeout(timer)
  }, [connected])
  return lost
}

function Strip({ title, problems, close, more = false }: { title: string; problems: Problem[]; close?: () => void; more?: boolean }) {
  return (
    <div className="alert" role="alert">
      <div className="alert-head">
        <Icon name="warning" size={16} /><strong>{title}</strong><span className="grow" />
        {more && <Button size="compact-xs" variant="subtle" onClick={() => show('messages')}>Everything</Button>}
        {close && <ActionIcon size="xs" variant="subtle" color="gray" aria-label="Close the message" onClick={close}><Icon name="close" size={12} /></ActionIcon>}
      </div>
      <div className="alert-body">{problems.slice(0, 3).map((p, k) => <ProblemCard key={k} problem={p} />)}</div>
    </div>
  )
}

// The view "Messages": the model's warnings, what the run said, what the model printed.
export function Messages() {
  const status = useStudio((s) => s.status)
  const model = useStudio((s) => s.model)
  const run = useStudio((s) => s.runs.find((r) => r.id === s.current))
  const printed = useStudio((s) => s.printed)
  const report = useStudio((s) => s.report)
  const ask = () => {
    useStudio.setState({ report: 'Looking through the steps …' })
    link.ask('report', { run: run!.id }).then((report) => useStudio.setState({ report })).catch((e) => { useStudio.setState({ report: '' }); refuse(e) })
  }
  return (
    <div className="messages">
      {status.problems.length > 0 && <section><h2>{status.text}</h2>{status.problems.map((p, k) => <ProblemCard key={k} problem={p} />)}</section>}
      {run && <section><h2>Run #{run.number}: {run.message || run.state}</h2>{run.problems.map((p, k) => <ProblemCard key={k} problem={p} />)}
        <Button size="xs" variant="light" onClick={ask}>Report on the steps of this run</Button>{report && <pre className="printed">{report}</pre>}</section>}
      {model && model.warnings.length > 0 && <section><h2>About the model</h2>{model.warnings.map((w) => <p key={w}>{w}</p>)}</section>}
      {printed.trim() && <section><h2>What the model printed</h2><pre className="printed">{printed}</pre></section>}
      {!run && !status.problems.length && !printed.trim() && <div className="hint">Nothing to report.</div>}
    </div>
  )
}
