// A page that is opened from the disk may start no worker: there the search of this site runs in a frame that nobody sees.
if (location.protocol === 'file:') {
  window.IFrameWorker = window.Worker = class IFrameWorker extends EventTarget {
    constructor(url) {
      super()
      this.ready = new Promise((done) => {
        const frame = document.createElement('iframe')
        frame.hidden = true
        document.body.append(frame)
        const inner = frame.contentWindow
        inner.postMessage = (data) => this.dispatchEvent(new MessageEvent('message', { data }))
        inner.importScripts = (...urls) => urls.reduce((before, one) => before.then(() => this.load(inner, one)), Promise.resolve())
        this.inner = inner
        this.load(inner, url).then(done)
      })
    }
    load(inner, url) {
      return new Promise((done, failed) => {
        const script = inner.document.createElement('script')
        script.src = new URL(url, document.baseURI)
        script.onload = done
        script.onerror = failed
        inner.document.body.append(script)
      })
    }
    postMessage(data) {
      this.ready.then(() => this.inner.dispatchEvent(new MessageEvent('message', { data })))
    }
    terminate() {}
  }
}
