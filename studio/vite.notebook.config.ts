import react from '@vitejs/plugin-react'
import { defineConfig, type Plugin } from 'vite'

// A cell of a notebook is a page of its own in a frame: its styles and its state are nobody else's. The module that the notebook loads
// carries that page as a text, and hands it what it shows.
function framed(): Plugin {
  return {
    name: 'framed',
    enforce: 'post',
    generateBundle(_options, bundle) {
      const files = Object.values(bundle)
      const code = files.flatMap((f) => (f.type === 'chunk' ? [f.code] : [])).join('\n').replaceAll('</script', '<\\/script').replaceAll('<!--', '<\\!--')
      const style = files.flatMap((f) => (f.type === 'asset' && f.fileName.endsWith('.css') ? [String(f.source)] : [])).join('\n')
      for (const f of files) delete bundle[f.fileName]
      const page = `<!doctype html><html lang="en"><head><meta charset="utf-8"><meta name="color-scheme" content="light dark"><style>${style}</style></head><body><div id="root"></div><script>${code}</script></body></html>`
      this.emitFile({ type: 'asset', fileName: 'notebook.js', source: `// Built from studio/src/notebook.tsx: make studio\nconst page = ${JSON.stringify(page)}\n${SHOW}` })
    },
  }
}

const SHOW = `function render({ model, el }) {
  const frame = document.createElement('iframe')
  frame.title = model.get('title')
  frame.style.cssText = 'width: 100%; border: 1px solid #8884; border-radius: 6px; height: ' + model.get('height') + 'px'
  frame.addEventListener('load', () => {
    const view = model.get('numbers')
    const numbers = view.buffer.slice(view.byteOffset, view.byteOffset + view.byteLength)
    frame.contentWindow.postMessage({ acausal: model.get('head'), numbers }, '*', [numbers])
  })
  frame.srcdoc = page
  el.appendChild(frame)
  return () => frame.remove()
}
export default { render }
`

export default defineConfig({
  plugins: [react(), framed()],
  define: { 'process.env.NODE_ENV': '"production"' },
  build: {
    target: 'es2022',
    outDir: '../src/acausal/studio/static',
    emptyOutDir: false,
    copyPublicDir: false,
    cssCodeSplit: false,
    chunkSizeWarningLimit: 8000,
    lib: { entry: 'src/notebook.tsx', formats: ['iife'], name: 'acausal', fileName: () => 'notebook.iife.js' },
  },
})
