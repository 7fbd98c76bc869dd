// The socket: questions with numbered answers, notices, columns of numbers. It comes back by itself after sleep or a restart.
import type { Asks, Column, Notices, Problem } from './protocol'

export interface Columns {
  columns: Column[]
  values: Float64Array[] // the first is the time
}
export interface Frames {
  columns: Column[]
  times: number[]
  values: Float64Array // name by name
}
type Head = Record<string, any>
type Waiting = { resolve: (value: any) => void; reject: (problems: Problem[]) => void; parts: Float64Array[]; columns: Column[] }

export class Refused extends Error {
  constructor(readonly problems: Problem[]) {
    super(problems[0]?.what ?? 'The studio refused.')
  }
}

export class Link {
  private socket: WebSocket | null = null
  private waiting = new Map<string, Waiting>()
  private live = new Map<string, { parts: Float64Array[]; columns: Column[] }>()
  private client = 0
  private count = 0
  private pause = 250
  private timer = 0

  constructor(
    private readonly heard: <K extends keyof Notices>(notice: K, data: Notices[K]) => void,
    private readonly came: (run: string, columns: Columns, final: boolean) => void,
    private readonly connected: (yes: boolean) => void,
  ) {}

  // Connect to the server that this page came from.
  start(): void {
    this.open()
    // a machine that slept comes back: do not wait for a timeout; one line that is being opened is enough
    addEventListener('online', () => { if (this.socket!.readyState > WebSocket.OPEN) this.open() })
  }

  private open(): void {
    clearTimeout(this.timer)
    const socket = new WebSocket(new URL('socket', document.baseURI).href.replace(/^http/, 'ws'))
    socket.binaryType = 'arraybuffer'
    socket.onmessage = ({ data }) => this.take(data as ArrayBuffer)
    socket.onclose = () => {
      if (socket !== this.socket) return
      this.lost()
      this.timer = setTimeout(() => this.open(), this.pause)
      this.pause = Math.min(4000, this.pause * 2)
    }
    this.socket = socket
    this.lost() // nobody answers any more on the line before, which may not have said that it is closed
  }

  private lost(): void {
    this.connected(false)
    for (const w of this.waiting.values()) w.reject([{ ...NOTHING, what: 'The connection to the studio was lost; it is being restored.' }])
    this.waiting.clear()
    this.live.clear()
  }

  private take(frame: ArrayBuffer): void {
    const size = new DataView(frame).getUint32(0, true)
    const head: Head = JSON.parse(new TextDecoder().decode(new Uint8Array(frame, 4, size)))
    if (head.notice === 'live') return this.gather(head, frame, 4 + size)
    if (head.notice === 'hello') {
      this.client = head.data.client
      this.pause = 250
      this.connected(true)
    }
    if (head.notice) return this.heard(head.notice as keyof Notices, head.data)
    this.answer(head, frame, 4 + size)
  }

  private answer(head: Head, frame: ArrayBuffer, at: number): void {
    const waiting = this.waiting.get(head.id)
    if (!waiting) return
    if (head.refused) waiting.reject(head.refused)
    else if (head.frames !== undefined) waiting.resolve({ columns: head.columns, times: head.times, values: new Float64Array(frame, at) })
    else if (head.column !== undefined) {
      if (head.column === 0) waiting.columns = head.columns
      waiting.parts.push(new Float64Array(frame, at, head.length))
      if (!head.last) return
      waiting.resolve({ columns: waiting.columns, values: waiting.parts })
    } else if (head.blocks) waiting.resolve({ answer: head.answer, blocks: Object.fromEntries(Object.entries(head.blocks as Record<string, [number, number]>).map(([n, [a, size]]) => [n, new Float64Array(frame, at + 8 * a, size)])) })
    else waiting.resolve(head.answer)
    this.waiting.delete(head.id)
  }

  private gather(head: Head, frame: ArrayBuffer, at: number): void {
    if (head.column === 0) this.live.set(head.run, { parts: [], columns: head.columns })
    const found = this.live.get(head.run)
    if (!found) return
    found.parts.push(new Float64Array(frame, at, head.length))
    if (!head.last) return
    this.live.delete(head.run)
    this.came(head.run, { columns: found.columns, values: found.parts }, head.final)
  }

  ask<K extends keyof Asks>(what: K, given: Asks[K]['given']): Promise<Asks[K]['answer']> {
    return this.send(what, given as Head) as Promise<Asks[K]['answer']>
  }
  columns(run: string, names: string[]): Promise<Columns> {
    return this.send('columns', { run, names }) as Promise<Columns>
  }
  frames(run: string, names: string[], count: number): Promise<Frames> {
    return this.send('frames', { run, names, count }) as Promise<Frames>
  }

  // an answer with numbers by name
  numbers<K extends keyof Asks>(what: K, given: Asks[K]['given']): Promise<{ answer: Asks[K]['answer']; blocks: Record<string, Float64Array> }> {
    return this.send(what, given as Head) as Promise<{ answer: Asks[K]['answer']; blocks: Record<string, Float64Array> }>
  }

  // Without a server: whoever made the page answers.
  answers: ((ask: string, given: Head) => Promise<unknown>) | null = null

  private send(ask: string, given: Head): Promise<unknown> {
    if (this.answers) return this.answers(ask, given)
    return new Promise((resolve, reject) => {
      if (this.socket?.readyState !== WebSocket.OPEN) return reject(new Refused([{ ...NOTHING, what: 'There is no connection to the studio.' }]))
      const id = `${this.client}-${++this.count}`
      this.waiting.set(id, { resolve, reject: (p) => reject(new Refused(p)), parts: [], columns: [] })
      this.socket.send(JSON.stringify({ ...given, id, ask }))
    })
  }
}

export const NOTHING: Problem = { what: '', component: '', equation: '', file: '', line: 0, source: '', details: [], remedy: '' }
