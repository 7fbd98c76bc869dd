// Pictures to take away: the diagram as it stands on the screen, drawn once more as one SVG; a chart as it was painted.

export function save(name: string, what: Blob): void {
  const a = document.createElement('a')
  a.href = URL.createObjectURL(what)
  a.download = name
  a.click()
  setTimeout(() => URL.revokeObjectURL(a.href), 1000)
}

const escaped = (text: string): string => text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('"', '&quot;')

// Wires with their colours and widths, parts with their names and values, in the units of the drawing.
export function diagramSvg(box: Element): string {
  const view = new DOMMatrix(getComputedStyle(box.querySelector('.react-flow__viewport')!).transform)
  const pane = box.querySelector('.react-flow')!.getBoundingClientRect()
  const inPlan = (r: DOMRect) => ({ x: (r.left - pane.left - view.e) / view.a, y: (r.top - pane.top - view.f) / view.a, width: r.width / view.a, height: r.height / view.a })
  const wires = [...box.querySelectorAll<SVGPathElement>('.react-flow__edge-path')].map((p) => {
    const style = getComputedStyle(p)
    return `<path d="${p.getAttribute('d')}" fill="none" stroke="${style.stroke}" stroke-width="${parseFloat(style.strokeWidth)}"/>`
  })
  const parts = [...box.querySelectorAll<HTMLElement>('.part, .border-port')].map((part) => {
    const { x, y, width, height } = inPlan(part.getBoundingClientRect())
    const style = getComputedStyle(part)
    const tint = style.getPropertyValue('--tint').trim()
    const rect = `<rect x="${x}" y="${y}" width="${width}" height="${height}" rx="7" fill="${tint || style.backgroundColor}" stroke="${style.borderTopColor}"/>`
    return rect + [...part.querySelectorAll<HTMLElement>('.part-name, .part-kind, .part-value span, .part-value output'), ...(part.matches('.border-port') ? [part] : [])].map((t) => line(t, inPlan(t.getBoundingClientRect()))).join('')
  })
  const all = [...box.querySelectorAll('.part, .border-port, .react-flow__edge-path')].map((e) => inPlan(e.getBoundingClientRect()))
  const [left, top] = [Math.min(...all.map((r) => r.x)) - 10, Math.min(...all.map((r) => r.y)) - 10]
  const [wide, tall] = [Math.max(...all.map((r) => r.x + r.width)) + 10 - left, Math.max(...all.map((r) => r.y + r.height)) + 10 - top]
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="${left} ${top} ${wide} ${tall}" width="${wide}" height="${tall}" font-family="Inter, 'DejaVu Sans', sans-serif">${wires.join('')}${parts.join('')}</svg>\n`
}

function line(text: HTMLElement, { x, y, width, height }: { x: number; y: number; width: number; height: number }): string {
  const style = getComputedStyle(text)
  const [end, middle] = [text.tagName === 'OUTPUT', text.matches('.border-port')]
  const at = middle ? x + width / 2 : end ? x + width : x
  return `<text x="${at}" y="${y + height / 2}" dominant-baseline="central" text-anchor="${middle ? 'middle' : end ? 'end' : 'start'}" font-size="${style.fontSize}" font-weight="${style.fontWeight}" fill="${style.color}">${escaped(text.textContent ?? '')}</text>`
}

// The isolines and the states over them.
export function chartPng(chart: Element, background: string): Promise<Blob> {
  const [below, above] = [...chart.querySelectorAll('canvas')]
  const sheet = new OffscreenCanvas(below.width, below.height)
  const pen = sheet.getContext('2d')!
  pen.fillStyle = background
  pen.fillRect(0, 0, sheet.width, sheet.height)
  pen.drawImage(below, 0, 0)
  pen.drawImage(above, 0, 0)
  return sheet.convertToBlob({ type: 'image/png' })
}
