"use strict";
// Draws the roofline from the JSON in the page. Text from the data enters the document only as text.
(() => {
  const plot = JSON.parse(document.getElementById("plot").textContent);
  const KINDS = [
    { kind: "compute", control: "dtype", symbol: null },
    { kind: "memory", control: "memory level", symbol: d3.symbolCircle },
    { kind: "network", control: "network axis", symbol: d3.symbolDiamond },
    { kind: "host", control: "host link", symbol: d3.symbolSquare },
  ];
  const MARGIN = { top: 14, right: 22, bottom: 46, left: 62 };
  for (const points of [plot.points, ...plot.points.map((point) => point.parts)]) points.forEach((point, i) => { point.number = i + 1; });
  const MOST_NAMED = 12;  // workloads; where there are more, the figure has their numbers
  const shorten = (text) => (text.length > 48 ? `${text.slice(0, 47)}…` : text);
  const byId = (id) => document.getElementById(id);
  const choice = { ...plot.chosen };
  let transform = d3.zoomIdentity;

  function element(name, text, className) {
    const node = document.createElement(name);
    if (text !== undefined) node.textContent = text;
    if (className) node.className = className;
    return node;
  }

  // What is shown ---------------------------------------------------------------------------------

  const inGroup = (item) => item.group === choice[item.kind];
  const isShownRoof = (roof) =>
    roof.rate !== null && inGroup(roof) && (roof.main || byId("variants").checked) &&
    (roof.origin === "nominal" ? byId("nominal").checked : byId("measured").checked);
  const isShownPoint = (point) => point.rate !== null && (point.dtype === "" || point.dtype === choice.compute);
  const currentView = () => plot.views.find((view) => KINDS.every(({ kind }) => view[kind] === choice[kind])) || plot.views[0];

  // The highest rate among `roofs` of the same origin, else among all.
  function highest(roofs, origin) {
    const own = roofs.filter((roof) => roof.origin === origin);
    return d3.max(own.length ? own : roofs, (roof) => roof.rate);
  }

  // Each shown roof with its ends in FLOP/byte and FLOP/s, cut to the axes.
  function roofLines(x, y) {
    const shown = plot.roofs.filter(isShownRoof);
    const ceilings = shown.filter((roof) => roof.kind === "compute");
    const slopes = shown.filter((roof) => roof.kind !== "compute");
    const lines = [];
    for (const roof of ceilings) {
      const steepest = highest(slopes, roof.origin);
      const from = steepest ? Math.max(roof.rate / steepest, x[0]) : x[0];
      if (from < x[1] && roof.rate >= y[0] && roof.rate <= y[1]) lines.push({ roof, from: [from, roof.rate], to: [x[1], roof.rate] });
    }
    for (const roof of slopes) {
      const from = Math.max(x[0], y[0] / roof.rate);
      const to = Math.min(x[1], y[1] / roof.rate, (highest(ceilings, roof.origin) || Infinity) / roof.rate);
      if (from < to) lines.push({ roof, from: [from, from * roof.rate], to: [to, to * roof.rate] });
    }
    return lines;
  }

  function marksOf(point, part, workload) {
    return point.intensities
      .filter((i) => inGroup(i) && i.edge !== "none")
      .filter((i) => !(part && i.kind !== "memory" && i.edge === "high"))
      .map((intensity) => ({ point, intensity, part, workload }));
  }

  function shownMarks() {
    const marks = [];
    const chosen = byId("parts").value;
    plot.points.forEach((point, workload) => {
      if (!isShownPoint(point)) return;
      if (String(workload) === chosen) {
        for (const part of point.parts) if (part.rate !== null) marks.push(...marksOf(part, true, workload));
      }
    });
    marks.sort((a, b) => (b.point.time_share || 0) - (a.point.time_share || 0));  // small discs on top
    plot.points.forEach((point, workload) => {
      if (isShownPoint(point)) marks.push(...marksOf(point, false, workload));
    });
    return marks;
  }

  // Words -----------------------------------------------------------------------------------------

  const roofWords = (roof) => [`${roof.name}: ${roof.text}`, `${roof.kind}, ${roof.origin}`, roof.source];
  function pointWords(point) {
    const lines = [point.name, `${point.rate_text} ${point.origin}`];
    for (const intensity of point.intensities) if (inGroup(intensity)) lines.push(intensity.text);
    if (point.time_s !== null) lines.push(point.time_text + (point.time_share === null ? "" : `, ${point.share_text} of the time`));
    if (point.bound) lines.push(`bound: ${point.bound}`);
    if (point.note) lines.push(point.note);
    return lines;
  }

  const spoken = (words) => words.filter(Boolean).join("; ");

  function showTip(words, node) {
    const tip = byId("tip");
    tip.replaceChildren(...words.filter(Boolean).map((word, i) => element(i === 0 ? "strong" : "span", word)));
    tip.hidden = false;
    const frame = tip.offsetParent.getBoundingClientRect();
    const box = node.getBoundingClientRect();
    const pane = byId("chart").querySelector(".frame").getBoundingClientRect();
    // Beside the mark; for a long line beside the middle of what is seen of it.
    const left = Math.max(box.left, pane.left), right = Math.min(box.right, pane.right);
    const top = Math.max(box.top, pane.top), bottom = Math.min(box.bottom, pane.bottom);
    const small = right - left < 80;
    const atX = small ? right + 8 : (left + right) / 2 + 12;
    const atY = small ? top : (top + bottom) / 2 + 12;
    const fitsRight = atX + tip.offsetWidth < frame.right;
    const wantedX = fitsRight ? atX : (small ? left - 8 : (left + right) / 2 - 12) - tip.offsetWidth;
    tip.style.left = `${Math.max(0, Math.min(wantedX - frame.left, frame.width - tip.offsetWidth))}px`;
    tip.style.top = `${Math.max(0, Math.min(atY - frame.top, pane.bottom - frame.top - tip.offsetHeight))}px`;
  }
  const hideTip = () => { byId("tip").hidden = true; };

  // Hover and focus say the same words as the label for a screen reader.
  function explain(selection, words, row) {
    selection
      .attr("tabindex", 0)
      .attr("role", "img")
      .each(function attach(d) {
        const enter = () => { showTip(words(d), this); light(row(d), true); };
        const leave = () => { hideTip(); light(row(d), false); };
        this.addEventListener("mouseenter", enter);
        this.addEventListener("mouseleave", leave);
        this.addEventListener("focus", enter);
        this.addEventListener("blur", leave);
      });
  }
  function light(key, on) {
    for (const node of document.querySelectorAll(`[data-key="${key}"]`)) node.classList.toggle("lit", on);
  }
  const roofKey = (roof) => `roof-${plot.roofs.indexOf(roof)}`;
  const pointKey = (point, part, workload) =>
    part ? `part-${workload}-${plot.points[workload].parts.indexOf(point)}` : `point-${workload}`;

  // Figure ----------------------------------------------------------------------------------------

  // SI prefixes from 1000 on and far below 1, plain figures between.
  const tickText = (value) => value >= 1000 || value < 1e-6 ? d3.format("~s")(value).replace(/([a-zA-Zµ])$/, " $1") : d3.format("~")(value);

  // Powers of ten, or 1, 2, 5, as many as fit.
  function ticks(scale, most) {
    const [lo, hi] = scale.domain().map(Math.log10);
    const decades = hi - lo;
    const steps = decades * 3 <= most ? [1, 2, 5] : [1];
    const every = Math.max(1, Math.ceil(decades / most));
    const out = [];
    for (let power = Math.floor(lo); power <= Math.ceil(hi); ++power) {
      if (((power % every) + every) % every) continue;
      for (const step of steps) out.push(Number(`${step}e${power}`));
    }
    const [from, to] = scale.domain();
    const inside = out.filter((v) => v >= from * (1 - 1e-9) && v <= to * (1 + 1e-9));
    return inside.length > 1 ? inside : d3.scaleLinear().domain(scale.domain()).ticks(most);
  }

  // Wheel with Ctrl, drag, two fingers: a page that scrolls under the pointer must not zoom.
  const eventOf = (given) => d3.event || given;  // before D3 6 the event is a global
  const zoom = d3.zoom().scaleExtent([1, 60])
    .wheelDelta((given) => -eventOf(given).deltaY * [0.002, 0.05, 1][eventOf(given).deltaMode])
    .filter((given) => {
      const event = eventOf(given);
      if (event.type === "wheel") return event.ctrlKey || event.metaKey;
      return event.touches ? event.touches.length > 1 : !event.button;
    })
    .on("zoom", function zoomed() { transform = d3.zoomTransform(this); draw(); });

  const svg = d3.select("#chart").append("svg").attr("role", "group").attr("aria-label", "Roofline figure");
  svg.append("clipPath").attr("id", "clip").append("rect");
  const layers = {};
  for (const name of ["grid", "pane", "roofs", "ties", "marks", "axes", "labels"]) layers[name] = svg.append("g");
  layers.pane.append("rect").attr("class", "pane");
  for (const name of ["roofs", "ties"]) layers[name].attr("clip-path", "url(#clip)");
  const frame = layers.axes.append("rect").attr("class", "frame").attr("pointer-events", "none");
  svg.call(zoom).on("dblclick.zoom", null);

  function drawAxes(x, y, width, height) {
    const bottom = height - MARGIN.bottom, right = width - MARGIN.right;
    const ofX = ticks(x, Math.max(3, Math.floor((right - MARGIN.left) / 70)));
    const ofY = ticks(y, Math.max(3, Math.floor(height / 40)));
    const axis = (layer, name, make, values, text) => layers[layer].selectAll(`g.${name}`).data([0]).join("g")
      .attr("class", `${layer === "grid" ? "grid" : "axis"} ${name}`)
      .attr("transform", name === "x" ? `translate(0,${bottom})` : `translate(${MARGIN.left},0)`)
      .call(make.tickValues(values).tickFormat(text));
    axis("grid", "x", d3.axisBottom(x).tickSize(MARGIN.top - bottom), ofX, "");
    axis("grid", "y", d3.axisLeft(y).tickSize(MARGIN.left - right), ofY, "");
    axis("axes", "x", d3.axisBottom(x), ofX, tickText);
    axis("axes", "y", d3.axisLeft(y), ofY, tickText);
    const titles = [
      { text: `intensity (${plot.units.intensity})`, at: `translate(${(MARGIN.left + right) / 2},${height - 8})` },
      { text: `rate (${plot.units.rate})`, at: `translate(14,${(MARGIN.top + bottom) / 2}) rotate(-90)` },
    ];
    layers.axes.selectAll("text.axis-title").data(titles).join("text").attr("class", "axis-title")
      .attr("text-anchor", "middle").attr("transform", (d) => d.at).text((d) => d.text);
    for (const rect of [frame, svg.select("#clip rect"), layers.pane.select("rect")]) {
      rect.attr("x", MARGIN.left).attr("y", MARGIN.top).attr("width", right - MARGIN.left).attr("height", bottom - MARGIN.top);
    }
  }

  function drawRoofs(lines) {
    const groups = layers.roofs.selectAll("g.roof").data(lines, (d) => roofKey(d.roof)).join((enter) => {
      const group = enter.append("g");
      group.append("path").attr("class", "reach");
      group.append("path").attr("class", "line");
      explain(group, (d) => roofWords(d.roof), (d) => roofKey(d.roof));
      return group;
    });
    groups.attr("aria-label", (d) => spoken(roofWords(d.roof)))
      .attr("class", (d) => `roof ${d.roof.kind} ${d.roof.origin}`).attr("data-key", (d) => roofKey(d.roof));
    for (const name of ["reach", "line"]) groups.select(`.${name}`).attr("d", (d) => `M${d.from}L${d.to}`);
  }

  function drawMarks(marks) {
    const key = (d) => `${pointKey(d.point, d.part, d.workload)}-${d.point.intensities.indexOf(d.intensity)}`;
    const groups = layers.marks.selectAll("g.mark").data(marks, key).join((enter) => {
      const group = enter.append("g");
      group.append("path");
      explain(group, (d) => pointWords(d.point), (d) => pointKey(d.point, d.part, d.workload));
      return group;
    });
    const symbol = (d) => KINDS.find(({ kind }) => kind === d.intensity.kind).symbol;
    const area = (d) => (d.part ? 16 + 900 * Math.min(1, d.point.time_share || 0) : 130);
    groups.order()
      .attr("aria-label", (d) => spoken(pointWords(d.point)))
      .attr("class", (d) => `mark ${d.intensity.kind} ${d.point.origin}${d.part ? " part" : ""}`)
      .attr("data-key", (d) => pointKey(d.point, d.part, d.workload))
      .attr("transform", (d) => `translate(${d.at})`)
      .select("path").attr("d", (d) => d3.symbol().type(symbol(d)).size(area(d))());
    // A workload's marks are one rate, seen as intensity over each kind of traffic.
    const ties = plot.points.map((point) => marks.filter((d) => d.point === point)).filter((of) => of.length > 1);
    layers.ties.selectAll("line").data(ties).join("line").attr("class", "tie")
      .attr("x1", (of) => d3.min(of, (d) => d.at[0])).attr("x2", (of) => d3.max(of, (d) => d.at[0]))
      .attr("y1", (of) => of[0].at[1]).attr("y2", (of) => of[0].at[1]);
  }

  // Labels: each takes the first place that is free; without one it is left to hover and tables.
  function drawLabels(lines, marks, width, height) {
    const taken = [];  // spots along labels, and marks
    for (const mark of marks) if (!mark.part) taken.push(mark.at);
    const close = (s, t, reach) => (s[0] - t[0]) ** 2 + (s[1] - t[1]) ** 2 < reach ** 2;
    const onLine = (s, { from, to }) => {
      const [dx, dy] = [to[0] - from[0], to[1] - from[1]];
      const share = Math.max(0, Math.min(1, ((s[0] - from[0]) * dx + (s[1] - from[1]) * dy) / (dx * dx + dy * dy)));
      return close(s, [from[0] + share * dx, from[1] + share * dy], 8);
    };
    layers.labels.selectAll("*").remove();
    const place = (className, text, candidates, mark) => {
      const label = layers.labels.append("text").attr("class", `halo ${className}`).attr("text-anchor", "middle").text(text);
      const half = label.node().getComputedTextLength() / 2;
      const inside = ([x, y]) => x > MARGIN.left + 2 && x < width - MARGIN.right - 2 && y > MARGIN.top + 7 && y < height - MARGIN.bottom - 7;
      const free = candidates(half).map(({ at, angle }) => {
        const step = half / Math.ceil(half / 6);
        const spots = d3.range(-half, half + 1, step).map((s) => [at[0] + s * Math.cos(angle), at[1] + s * Math.sin(angle)]);
        return { at, angle, spots };
      }).filter(({ spots }) => spots.every(inside) && !spots.some((s) => taken.some((t) => close(s, t, 14))));
      // Rather beside the lines than over them.
      const best = free.find(({ spots }) => !spots.some((s) => lines.some((line) => onLine(s, line)))) || free[0];
      if (!best) {
        label.remove();
        return;
      }
      taken.push(...best.spots);
      if (mark) {  // a line to the mark from the label's near side, where that is not next to it
        const near = [Math.max(best.at[0] - half, Math.min(best.at[0] + half, mark.at[0])), best.at[1]];
        if (!close(near, mark.at, 20)) layers.labels.insert("path", "text").attr("class", "leader").attr("d", `M${mark.at}L${near}`);
      }
      label.attr("transform", `translate(${best.at}) rotate(${(best.angle * 180) / Math.PI})`).attr("dy", "0.35em");
    };
    const besideMark = ({ at }) => (half) => [14, 26, 44, 66].flatMap((away) =>
      [[1, 0], [-1, 0], [0, 1], [0, -1], [0.7, 0.7], [0.7, -0.7], [-0.7, 0.7], [-0.7, -0.7], [0.1, -1], [-0.1, -1], [0.1, 1], [-0.1, 1]].map(([dx, dy]) =>
        ({ at: [at[0] + dx * away + Math.sign(dx) * half, at[1] + dy * away], angle: 0 })));
    const alongLine = ({ roof, from, to }) => (half) => {
      const length = Math.hypot(to[0] - from[0], to[1] - from[1]);
      const angle = Math.atan2(to[1] - from[1], to[0] - from[0]);
      const first = roof.origin === "measured" ? 11 : -11;
      return [1, -1, 2.3, -2.3, 3.4, -3.4].map((rows) => rows * first).flatMap((aside) =>
        d3.range(half + 8, length - half, 12).map((s) => {
          const share = (roof.kind === "compute" ? length - s : s) / length;
          return { at: [from[0] + (to[0] - from[0]) * share - aside * Math.sin(angle), from[1] + (to[1] - from[1]) * share + aside * Math.cos(angle)], angle };
        }));
    };
    // What lies at one place gets one label: the name beside the first mark, and what an edge means.
    const labelWorkloads = () => plot.points.forEach((point) => {
      const own = marks.filter((mark) => mark.point === point);
      const places = [...new Set(own.map((mark) => String(mark.at)))];
      places.forEach((where, i) => {
        const here = own.filter((mark) => String(mark.at) === where);
        const words = here.filter((mark) => mark.intensity.edge !== "inside").map((mark) => mark.intensity.text).join(", ");
        const name = plot.points.length <= MOST_NAMED ? shorten(point.name) : String(point.number);
        const text = [i === 0 ? name : "", words].filter(Boolean).join(": ");
        if (text) place("", text, besideMark(here[0]), here[0]);
      });
    });
    // Nominal roofs first, as those lie outside.
    const nominal = (line) => line.roof.origin === "nominal";
    const labelRoofs = () => {
      for (const line of [...lines.filter(nominal), ...lines.filter((one) => !nominal(one))]) {
        const { roof } = line;
        place(`roof-label ${roof.kind}`, shorten(`${roof.name} ${roof.text} ${roof.origin}`), alongLine(line));
      }
    };
    // Few names go where they belong and roofs' labels around them; many numbers fit anywhere.
    for (const label of plot.points.length <= MOST_NAMED ? [labelWorkloads, labelRoofs] : [labelRoofs, labelWorkloads]) label();
  }

  function draw() {
    const width = Math.max(280, byId("chart").clientWidth);
    const height = Math.round(Math.max(340, Math.min(640, width * 0.56)));
    svg.attr("viewBox", `0 0 ${width} ${height}`).attr("height", height);
    const range = { x: [MARGIN.left, width - MARGIN.right], y: [height - MARGIN.bottom, MARGIN.top] };
    const extent = [[range.x[0], range.y[1]], [range.x[1], range.y[0]]];
    zoom.extent(extent).translateExtent(extent);
    const view = currentView();
    const x = transform.rescaleX(d3.scaleLog().domain(view.x).range(range.x));
    const y = transform.rescaleY(d3.scaleLog().domain(view.y).range(range.y));
    drawAxes(x, y, width, height);
    const lines = roofLines(view.x, view.y).map((line) => ({ ...line, from: [x(line.from[0]), y(line.from[1])], to: [x(line.to[0]), y(line.to[1])] }));
    const clamp = (value, [lo, hi]) => Math.max(lo, Math.min(hi, value));
    const marks = shownMarks().map((mark) => {
      const { edge, flop_per_byte: intensity } = mark.intensity;
      const value = edge === "low" ? view.x[0] : edge === "high" ? view.x[1] : clamp(intensity, view.x);
      return { ...mark, at: [x(value), y(clamp(mark.point.rate, view.y))] };
    }).filter(({ at }) => at[0] >= range.x[0] - 1 && at[0] <= range.x[1] + 1 && at[1] <= range.y[0] + 1 && at[1] >= range.y[1] - 1);
    drawRoofs(lines);
    drawMarks(marks);
    drawLabels(lines, marks, width, height);
  }

  // Tables: the figure's numbers, and those that it does not show -----------------------------------

  function fillTable(id, columns, rows) {
    const head = element("tr");
    for (const column of columns) {
      const cell = element("th", column.title, column.style);
      cell.scope = "col";
      head.append(cell);
    }
    const body = rows.map(({ item, key, shown }) => {
      const row = element("tr", undefined, shown ? "" : "unshown");
      row.dataset.key = key;
      row.append(...columns.map((column) => element("td", column.text(item), column.style)));
      row.addEventListener("mouseenter", () => light(key, true));
      row.addEventListener("mouseleave", () => light(key, false));
      return row;
    });
    const thead = element("thead"), tbody = element("tbody");
    thead.append(head);
    tbody.append(...body);
    byId(id).replaceChildren(thead, tbody);
  }

  function pointColumns() {
    const over = (kind) => ({
      title: `intensity, ${kind} (${choice[kind]})`, style: "long",
      text: (point) => point.intensities.filter((i) => i.kind === kind && inGroup(i)).map((i) => i.text).join(", ") || "-",
    });
    return [
      { title: "#", style: "number", text: (point) => String(point.number) },
      { title: "name", style: "long", text: (point) => point.name },
      { title: "dtype", text: (point) => point.dtype || "-" },
      { title: "rate", style: "number", text: (point) => point.rate_text },
      { title: "how", text: (point) => point.origin },
      ...["memory", "network", "host"].filter((kind) => plot.groups[kind].length).map(over),
      { title: "time", style: "number", text: (point) => point.time_text },
      { title: "share", style: "number", text: (point) => point.share_text },
      { title: "bound", style: "long", text: (point) => point.bound || "-" },
      { title: "note", style: "long", text: (point) => point.note },
    ];
  }

  function drawTables() {
    fillTable("roofs-table", [
      { title: "kind", text: (roof) => roof.kind },
      { title: "roof", style: "long", text: (roof) => roof.name },
      { title: "figure", style: "number", text: (roof) => roof.text },
      { title: "how", text: (roof) => roof.origin },
      { title: "source", style: "long", text: (roof) => roof.source },
    ], KINDS.flatMap(({ kind }) => plot.roofs.filter((roof) => roof.kind === kind)).map((roof) => ({ item: roof, key: roofKey(roof), shown: isShownRoof(roof) })));
    fillTable("points-table", pointColumns(),
      plot.points.map((point, i) => ({ item: point, key: pointKey(point, false, i), shown: isShownPoint(point) })));
    const workload = Number(byId("parts").value);
    const parts = plot.points[workload] ? plot.points[workload].parts : [];
    byId("parts-section").hidden = parts.length === 0;
    fillTable("parts-table", pointColumns(),
      [...parts].sort((a, b) => (b.time_share || 0) - (a.time_share || 0))
        .map((part) => ({ item: part, key: pointKey(part, true, workload), shown: isShownPoint(plot.points[workload]) })));
    const others = plot.points.filter((point) => !isShownPoint(point)).map((point) => `${point.name} (${point.rate === null ? "no rate" : point.dtype})`);
    byId("hidden-note").textContent = others.length ? `Not drawn: ${others.join(", ")}.` : "";
  }

  // Controls --------------------------------------------------------------------------------------

  function update() { drawTables(); draw(); }

  function fillControls() {
    byId("title").textContent = document.title = plot.title || "Roofline";
    byId("conditions").append(...plot.conditions.map((line) => element("li", line)));
    for (const { kind, control } of KINDS) {
      if (plot.groups[kind].length === 0) continue;
      const label = element("label", `${control} `);
      const select = element("select");
      select.id = `choose-${kind}`;
      select.append(...plot.groups[kind].map((group) => new Option(group, group, false, group === choice[kind])));
      select.disabled = plot.groups[kind].length === 1;
      select.addEventListener("change", () => { choice[kind] = select.value; resetZoom(); update(); });
      label.append(select);
      byId("choices").append(label);
    }
    const withParts = plot.points.map((point, i) => ({ point, i })).filter(({ point }) => point.parts.length);
    byId("parts").append(new Option("none", ""), ...withParts.map(({ point, i }) => new Option(point.name, String(i))));
    if (plot.points.length === 1 && withParts.length) byId("parts").value = "0";
    byId("parts-label").hidden = withParts.length === 0;
    for (const id of ["measured", "nominal", "variants", "parts"]) byId(id).addEventListener("change", update);
    byId("zoom-in").addEventListener("click", () => svg.call(zoom.scaleBy, 1.6));
    byId("zoom-out").addEventListener("click", () => svg.call(zoom.scaleBy, 1 / 1.6));
    byId("zoom-reset").addEventListener("click", resetZoom);
    byId("controls").addEventListener("submit", (event) => event.preventDefault());
    document.addEventListener("keydown", (event) => { if (event.key === "Escape") hideTip(); });
  }
  function resetZoom() { svg.call(zoom.transform, d3.zoomIdentity); }

  function fillKey() {
    const line = (text, dash, width) => ({ text, shape: (g) => g.append("line").attr("x2", 26).attr("y1", 6).attr("y2", 6).attr("stroke", "currentColor").attr("stroke-width", width).attr("stroke-dasharray", dash) });
    const mark = (text, type, filled) => ({ text, shape: (g) => g.append("path").attr("transform", "translate(13,6)").attr("d", d3.symbol().type(type).size(90)()).attr("stroke", "currentColor").attr("stroke-width", 1.5).attr("fill", filled ? "currentColor" : "none") });
    const entries = [
      line("measured roof", null, 2.4), line("nominal roof", "7 5", 1.5), line("simulated roof", "1.5 4.5", 1.8),
      mark("measured", d3.symbolCircle, true), mark("predicted or simulated", d3.symbolCircle, false),
      mark("FLOP per memory byte", d3.symbolCircle, true), mark("per wire byte", d3.symbolDiamond, true), mark("per host byte", d3.symbolSquare, true),
    ];
    for (const entry of entries) {
      const item = element("span");
      entry.shape(d3.select(item).append("svg").attr("width", 26).attr("height", 12).attr("aria-hidden", "true"));
      item.append(entry.text);
      byId("key").append(item);
    }
    byId("key").append(element("span", "Ctrl + wheel zooms, drag moves."));
  }

  fillControls();
  fillKey();
  update();
  new ResizeObserver(draw).observe(byId("chart"));
})();
