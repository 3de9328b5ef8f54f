// A page to which everything comes late: what the kernel sends one message after the other, and what the page itself
// puts off. A test that reads what it has not waited for fails here, and not once in a thousand runs.
(() => {
  const kernel = 300;
  const apart = 25;
  const page = 120;
  let last = 0;
  const own = Object.getOwnPropertyDescriptor(WebSocket.prototype, "onmessage");
  Object.defineProperty(WebSocket.prototype, "onmessage", {
    get() { return own.get.call(this); },
    set(heard) {
      own.set.call(this, heard && ((event) => {
        last = Math.max(performance.now() + kernel, last + apart);
        setTimeout(() => heard.call(this, event), last - performance.now());
      }));
    },
  });
  window.requestAnimationFrame = (draw) => setTimeout(() => draw(performance.now()), page);
  window.cancelAnimationFrame = (id) => clearTimeout(id);
  const listen = EventTarget.prototype.addEventListener;
  EventTarget.prototype.addEventListener = function (name, heard, options) {
    const late = name === "toggle" ? (event) => setTimeout(() => heard.call(this, event), page) : heard;
    return listen.call(this, name, late, options);
  };
  for (const name of ["ResizeObserver", "IntersectionObserver"]) {
    window[name] = class extends window[name] {
      constructor(heard, options) { super((...all) => setTimeout(() => heard(...all), page), options); }
    };
  }
})();
