/** Hands on what the microphone picks up, 1024 samples at a time. */
class Listen extends AudioWorkletProcessor {
  constructor() {
    super();
    this.held = new Float32Array(1024);
    this.length = 0;
  }

  process([[samples] = []]) {
    if (!samples) return true;
    this.held.set(samples, this.length);
    this.length += samples.length;
    if (this.length === this.held.length) {
      this.port.postMessage(this.held.slice());
      this.length = 0;
    }
    return true;
  }
}
registerProcessor("listen", Listen);
