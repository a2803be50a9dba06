"""The script of every page: it draws the maps and answers the pointer."""

ITEM_MAPS = """
'use strict';
for (const root of document.querySelectorAll('.item-map')) {
  const data = JSON.parse(document.getElementById(root.dataset.source).textContent);
  const unpack = (text, Kind) => new Kind(Uint8Array.from(atob(text), c => c.charCodeAt(0)).buffer);
  const xy = unpack(data.xy, Uint16Array), n = xy.length / 2, C = data.classes.length;
  const truth = data.truth && unpack(data.truth, Uint8Array);
  const images = data.images && unpack(data.images, Uint8Array);
  const views = data.views.map(v => ({range: v.range, p: unpack(v.p, Uint8Array),
    evidence: unpack(v.evidence, Float32Array), votes: unpack(v.votes, Uint16Array)}));
  const tip = root.querySelector('.tip');
  const make = (tag, parent, values, text) => {
    const node = document.createElementNS(parent.namespaceURI, tag);
    for (const key in values) node.setAttribute(key, values[key]);
    if (text !== undefined) node.textContent = text;
    return parent.appendChild(node);
  };
  const show = value => value >= 10 ? value.toFixed(0) : value >= 1 ? value.toFixed(1) : String(+value.toPrecision(2));
  const radius = n > 4000 ? 4 : n > 800 ? 7 : 10;
  const maps = [...root.querySelectorAll('.map')].map(svg => {
    const dots = Array.from({length: n}, (_, i) =>
      make('circle', svg, {cx: xy[2 * i], cy: xy[2 * i + 1], r: radius, 'data-item': i}));
    for (const [text, x, y] of data.marks) make('text', svg, {x, y}, text);
    return {kind: svg.dataset.kind, dots, svg};
  });
  let now = views[data.start];
  const best = i => {
    let c = 0;
    for (let k = 1; k < C; k++) if (now.p[i * C + k] > now.p[i * C + c]) c = k;
    return c;
  };
  const paint = () => {
    const [low, high] = now.range;
    root.querySelector('.least').textContent = show(10 ** low);
    root.querySelector('.most').textContent = show(10 ** high) + ' votes';
    for (const {kind, dots} of maps) dots.forEach((dot, i) => {
      const c = best(i), sure = Math.max(0, (now.p[i * C + c] / 255 - 1 / C) / (1 - 1 / C));
      const share = (Math.log10(Math.max(now.evidence[i], 10 ** low)) - low) / (high - low || 1);
      dot.style.fill = kind === 'class' ? data.colors[c]
        : `color-mix(in oklab, var(--low), var(--high) ${(100 * share).toFixed(1)}%)`;
      dot.style.fillOpacity = kind === 'class' ? 0.15 + 0.85 * sure : 1;
      dot.classList.toggle('voted', kind === 'class' && now.votes[i] > 0);
    });
  };
  root.querySelector('.switch').addEventListener('click', event => {
    const button = event.target.closest('button');
    if (!button) return;
    for (const other of root.querySelectorAll('.switch button')) other.setAttribute('aria-pressed', other === button);
    now = views[button.dataset.view];
    paint();
  });
  let marked = -1;
  const mark = i => {
    for (const {dots} of maps) {
      if (marked >= 0) dots[marked].classList.remove('here');
      if (i >= 0) dots[i].classList.add('here');
    }
    marked = i;
  };
  const describe = i => {
    tip.replaceChildren();
    if (images) {
      const [height, width] = data.image_shape;
      const canvas = make('canvas', tip, {width, height}), pen = canvas.getContext('2d');
      const shades = pen.createImageData(width, height);
      for (let k = 0; k < width * height; k++)
        shades.data.set([0, 0, 0, images[i * width * height + k]], 4 * k);
      pen.putImageData(shades, 0, 0);
    }
    make('strong', tip, {}, `item ${i}`);
    make('div', tip, {}, `evidence ${show(now.evidence[i])}`);
    make('div', tip, {}, `own votes ${now.votes[i]}`);
    const list = make('ol', tip, {});
    const order = [...Array(C).keys()].sort((a, b) => now.p[i * C + b] - now.p[i * C + a]);
    for (const c of order.slice(0, 5)) {
      const line = make('li', list, {}), value = now.p[i * C + c] / 255;
      make('span', line, {}, data.classes[c]);
      const track = make('span', line, {class: 'track'});
      const bar = make('i', track, {});
      bar.style.width = 100 * value + '%';
      bar.style.background = data.colors[c];
      if (truth) make('u', track, {}).style.left = `calc(${100 * truth[i * C + c] / 255}% - 1px)`;
      make('span', line, {class: 'number'}, (100 * value).toFixed(0) + ' %');
    }
    if (truth) make('div', tip, {}, 'the upright line marks the truth');
  };
  root.addEventListener('pointermove', event => {
    const item = event.target.dataset && event.target.dataset.item;
    if (item === undefined) { tip.hidden = true; mark(-1); return; }
    if (+item !== marked) { mark(+item); describe(+item); }
    tip.hidden = false;
    const frame = root.getBoundingClientRect();
    const x = event.clientX - frame.left, y = event.clientY - frame.top;
    tip.style.left = (x + 270 > frame.width ? x - 266 : x + 16) + 'px';
    tip.style.top = Math.min(y + 14, frame.height - tip.offsetHeight) + 'px';
  });
  root.addEventListener('pointerleave', () => { tip.hidden = true; mark(-1); });
  paint();
}
"""

POINT_MAPS = """
for (const root of document.querySelectorAll('.point-map')) {
  const data = JSON.parse(document.getElementById(root.dataset.source).textContent);
  const unpack = (text, Kind) => new Kind(Uint8Array.from(atob(text), c => c.charCodeAt(0)).buffer);
  const Label = data.wide ? Uint16Array : Uint8Array;
  const xy = unpack(data.xy, Uint16Array), n = xy.length / 2, [width, height] = data.plane;
  const best = unpack(data.best, Label), second = unpack(data.second, Label);
  const p = unpack(data.p, Uint8Array), p2 = unpack(data.p2, Uint8Array), votes = unpack(data.votes, Uint8Array);
  const values = {evidence: unpack(data.evidence, Uint8Array), uncertainty: unpack(data.uncertainty, Uint8Array)};
  const radius = n > 60000 ? 1.6 : n > 20000 ? 2.4 : n > 5000 ? 3.6 : n > 1000 ? 5.5 : 8;
  const show = value => value >= 10 ? value.toFixed(0) : value >= 1 ? value.toFixed(1) : String(+value.toPrecision(2));
  const [low, high] = data.range;
  const amount = i => 10 ** (low + values.evidence[i] / 255 * (high - low));
  const rgb = color => {
    const pen = document.createElement('canvas').getContext('2d', {willReadFrequently: true});
    pen.fillStyle = color;
    pen.fillRect(0, 0, 1, 1);
    return pen.getImageData(0, 0, 1, 1).data;
  };
  const figures = [...root.querySelectorAll('figure')];
  const paint = () => {
    const style = getComputedStyle(document.documentElement);
    const ends = ['--low', '--high'].map(name => rgb(style.getPropertyValue(name).trim()));
    const ink = style.getPropertyValue('--ink');
    const ramp = Array.from({length: 256}, (_, k) =>
      `rgb(${[0, 1, 2].map(c => Math.round(ends[0][c] + (ends[1][c] - ends[0][c]) * k / 255)).join()})`);
    for (const figure of figures) {
      const kind = figure.dataset.kind, pen = figure.querySelector('canvas').getContext('2d');
      pen.clearRect(0, 0, width, height);
      const C = data.classes.length;
      for (let i = 0; i < n; i++) {
        if (kind === 'class') {
          pen.globalAlpha = 0.2 + 0.8 * Math.max(0, (p[i] / 255 - 1 / C) / (1 - 1 / C || 1));
          pen.fillStyle = data.colors[best[i]];
        } else pen.fillStyle = ramp[values[kind][i]];
        if (radius < 2) pen.fillRect(xy[2 * i] - radius, xy[2 * i + 1] - radius, 2 * radius, 2 * radius);
        else { pen.beginPath(); pen.arc(xy[2 * i], xy[2 * i + 1], radius, 0, 7); pen.fill(); }
      }
      pen.globalAlpha = 1;
      if (kind === 'class' && data.rings) {
        pen.strokeStyle = ink;
        pen.lineWidth = Math.max(1, radius / 3);
        for (let i = 0; i < n; i++) if (votes[i]) {
          pen.beginPath(); pen.arc(xy[2 * i], xy[2 * i + 1], radius, 0, 7); pen.stroke();
        }
      }
      const least = figure.querySelector('.least');
      if (least) {
        least.textContent = kind === 'evidence' ? show(10 ** low) : '0';
        figure.querySelector('.most').textContent = kind === 'evidence' ? show(10 ** high) + ' votes' : '1';
      }
    }
  };
  root.querySelector('.switch').addEventListener('click', event => {
    const button = event.target.closest('button');
    if (!button) return;
    for (const other of root.querySelectorAll('.switch button')) other.setAttribute('aria-pressed', other === button);
    for (const figure of figures) figure.classList.toggle('other', figure.dataset.kind !== button.dataset.kind);
  });
  const size = 25, across = Math.ceil(width / size), cells = new Map();
  for (let i = 0; i < n; i++) {
    const key = Math.floor(xy[2 * i + 1] / size) * across + Math.floor(xy[2 * i] / size);
    if (cells.has(key)) cells.get(key).push(i); else cells.set(key, [i]);
  }
  const nearest = (x, y) => {
    let found = -1, closest = (radius + 8) ** 2;
    for (let dy = -1; dy <= 1; dy++) for (let dx = -1; dx <= 1; dx++)
      for (const i of cells.get((Math.floor(y / size) + dy) * across + Math.floor(x / size) + dx) || []) {
        const gap = (xy[2 * i] - x) ** 2 + (xy[2 * i + 1] - y) ** 2;
        if (gap < closest) { closest = gap; found = i; }
      }
    return found;
  };
  const tip = root.querySelector('.tip');
  const line = (tag, text, parent = tip) => {
    const node = parent.appendChild(document.createElement(tag));
    node.textContent = text;
    return node;
  };
  const describe = i => {
    tip.replaceChildren();
    line('strong', data.names ? data.names[i] : 'dot ' + i);
    line('div', `evidence ${show(amount(i))}, own votes ${votes[i]}${votes[i] === 255 ? ' or more' : ''}`);
    const list = line('ol', '');
    for (const [c, share] of [[best[i], p[i] / 255], [second[i], p2[i] / 255]]) {
      if (c >= data.classes.length) continue;
      const row = line('li', '', list);
      line('span', data.classes[c], row);
      const bar = line('span', '', row);
      bar.className = 'track';
      const fill = line('i', '', bar);
      fill.style.width = 100 * share + '%';
      fill.style.background = data.colors[c];
      line('span', (100 * share).toFixed(0) + ' %', row).className = 'number';
    }
  };
  root.addEventListener('pointermove', event => {
    const canvas = event.target.closest('canvas');
    if (!canvas) { tip.hidden = true; return; }
    const box = canvas.getBoundingClientRect(), scale = width / box.width;
    const i = nearest((event.clientX - box.left) * scale, (event.clientY - box.top) * scale);
    if (i < 0) { tip.hidden = true; return; }
    describe(i);
    tip.hidden = false;
    const frame = root.getBoundingClientRect();
    const x = event.clientX - frame.left, y = event.clientY - frame.top;
    tip.style.left = (x + 270 > frame.width ? x - 266 : x + 16) + 'px';
    tip.style.top = Math.min(y + 14, frame.height - tip.offsetHeight) + 'px';
  });
  root.addEventListener('pointerleave', () => { tip.hidden = true; });
  window.addEventListener('beforeprint', paint);
  window.addEventListener('afterprint', paint);
  matchMedia('(prefers-color-scheme: dark)').addEventListener('change', paint);
  paint();
}
"""
