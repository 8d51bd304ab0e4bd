(() => {
  "use strict";
  const find = (name) => document.getElementById(name);
  const data = JSON.parse(find("data").textContent);
  const layers = ["light", "names", "values", "pieces", "last", "characters", "panel"]
    .map((name) => find("layer-" + name));
  const shown = layers.map(() => "");
  const last = data.candidates[0].length - 1;
  const buttons = [...document.querySelectorAll("[data-moment]")];
  const views = [...document.querySelectorAll("[data-perspective]")];
  const heading = document.querySelector(".picture > svg > title");
  let moment = 0, view = 2, timer = null;

  function draw() {
    data.frames[view][moment].forEach((numbers, n) => {
      const key = numbers.join();
      if (shown[n] !== key) {
        layers[n].innerHTML = numbers.map((number) => data.parts[number]).join("");
        shown[n] = key;
      }
    });
    heading.textContent = data.titles[view][moment];
    find("slider").value = moment;
    find("now").setAttribute("x1", moment);
    find("now").setAttribute("x2", moment);
    find("count").textContent = data.candidates[view][moment];
    let words = "before the first action";
    buttons.forEach((button) => {
      if (Number(button.dataset.moment) !== moment) return button.removeAttribute("aria-current");
      button.setAttribute("aria-current", "step");
      words = [...button.children].map((part) => part.textContent).join(": ");
      const list = find("actions"), top = button.offsetTop - list.scrollTop;
      if (top < 0 || top > list.clientHeight - 40) {
        list.scrollTop = button.offsetTop - list.clientHeight / 2;
      }
    });
    find("status").textContent = moment + " of " + last + " - " + words;
    find("slider").setAttribute("aria-valuetext", find("status").textContent);
  }
  function go(to) {
    moment = Math.min(Math.max(to, 0), last);
    draw();
  }
  function stop() {
    clearInterval(timer);
    timer = null;
    find("play").textContent = "Play";
    find("play").setAttribute("aria-label", "Play");
    find("play").title = "Play";
  }
  function step(to) {
    stop();
    go(to);
  }
  function see(which) {
    view = which;
    views.forEach((button, n) => button.setAttribute("aria-pressed", String(n === view)));
    document.querySelectorAll("[data-line]").forEach((line, n) =>
      line.setAttribute("visibility", n === view ? "visible" : "hidden"));
    buttons.forEach((button) => {
      const texts = data.secrets[button.dataset.moment];
      if (texts) button.querySelector(".what").textContent = texts[view];
    });
    draw();
  }
  const steps = {
    Home: () => 0, End: () => last, ArrowLeft: () => moment - 1, ArrowRight: () => moment + 1,
  };
  find("first").onclick = () => step(0);
  find("back").onclick = () => step(moment - 1);
  find("next").onclick = () => step(moment + 1);
  find("last").onclick = () => step(last);
  find("play").onclick = () => {
    if (timer) return stop();
    if (moment === last) go(0);
    find("play").textContent = "Pause";
    find("play").setAttribute("aria-label", "Pause");
    find("play").title = "Pause";
    timer = setInterval(() => {
      go(moment + 1);
      if (moment === last) stop();
    }, 800);
  };
  find("slider").oninput = () => step(Number(find("slider").value));
  find("chart").onclick = (event) => {
    const box = find("chart").getBoundingClientRect();
    step(Math.round(last * (event.clientX - box.left) / box.width));
  };
  buttons.forEach((button) => button.onclick = () => step(Number(button.dataset.moment)));
  views.forEach((button, n) => button.onclick = () => see(n));
  document.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.altKey || event.metaKey || !(event.key in steps)) return;
    event.preventDefault();
    step(steps[event.key]());
  });
  see(view);
})();
