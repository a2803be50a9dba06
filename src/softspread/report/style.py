"""The style sheet of every page: colours are variables, so that light, dark and print differ only here."""

STYLE = """
:root{--paper:#fbfaf7;--panel:#fff;--ink:#1f2430;--soft:#626a79;--rule:#e3e0d8;--accent:#3457b2;--good:#1b7f4b;
--wash:#eef6f0;--low:#e4e9f5;--high:#16307c;--faint:#d9d6ce}
@media(prefers-color-scheme:dark){:root{--paper:#12151b;--panel:#1a1e26;--ink:#e8eaef;--soft:#9aa3b2;--rule:#2c323d;
--accent:#8fb0ff;--good:#69d29a;--wash:#17261f;--low:#27324f;--high:#ffe9a8;--faint:#39404d}}
*{box-sizing:border-box}
body{margin:0;background:var(--paper);color:var(--ink);font:1rem/1.55 system-ui,-apple-system,"Segoe UI",Roboto,
"Helvetica Neue",Arial,sans-serif;-webkit-print-color-adjust:exact;print-color-adjust:exact}
main{max-width:1080px;margin:0 auto;padding:40px 24px 32px}
h1{font-size:2.1rem;line-height:1.15;margin:0 0 10px;letter-spacing:-.02em}
h2{font-size:1.2rem;margin:0 0 4px;letter-spacing:-.01em}
.lead{font-size:1.08rem;color:var(--soft);max-width:68ch;margin:0}
section{margin-top:36px}
p{max-width:80ch;margin:6px 0}
.note{color:var(--soft);font-size:.92rem;margin:0 0 14px}
ul{margin:14px 0 0;padding-left:20px;max-width:95ch}li{margin:5px 0}
.cards{display:grid;grid-template-columns:repeat(auto-fit,minmax(240px,1fr));gap:16px;margin-top:28px}
.card{background:var(--panel);border:1px solid var(--rule);border-radius:14px;padding:16px 18px}
.card.good{background:var(--wash);border-color:color-mix(in srgb,var(--good) 35%,var(--rule))}
.card-title{color:var(--soft);font-size:.9rem}
.figure{font-size:1.9rem;font-weight:650;letter-spacing:-.02em;margin:2px 0 4px;font-variant-numeric:tabular-nums}
.good .figure{color:var(--good)}
.card-text{font-size:.92rem}
.scroll{overflow-x:auto;background:var(--panel);border:1px solid var(--rule);border-radius:14px;padding:6px 0}
table{border-collapse:collapse;width:100%;font-variant-numeric:tabular-nums}
th,td{padding:9px 18px;text-align:right;border-bottom:1px solid var(--rule);white-space:nowrap}
th:first-child{text-align:left}
thead th{font-size:.85rem;color:var(--soft);font-weight:600}
tbody th{font-weight:500}tbody tr:last-child>*{border-bottom:0}
.detail{display:block;font-size:.8rem;line-height:1.3;color:var(--soft);font-weight:400}
td.best{font-weight:700;color:var(--good)}.star{margin-right:6px;font-size:.85em}
.switch{display:inline-flex;border:1px solid var(--rule);border-radius:10px;overflow:hidden;background:var(--panel);
margin-bottom:14px}
.switch button{font:inherit;font-size:.92rem;color:var(--ink);background:none;border:0;
border-right:1px solid var(--rule);padding:7px 16px;cursor:pointer}
.switch button:last-child{border-right:0}
.switch button[aria-pressed=true]{background:var(--accent);color:var(--panel);font-weight:600}
.switch button:focus-visible{outline:2px solid var(--accent);outline-offset:-4px}
.item-map{position:relative}
.maps{display:grid;grid-template-columns:repeat(auto-fit,minmax(320px,1fr));gap:18px}
figure{margin:0;background:var(--panel);border:1px solid var(--rule);border-radius:14px;padding:14px 16px 12px}
figcaption{font-size:.9rem;color:var(--soft)}
.map{display:block;width:100%;height:auto;margin:4px 0}
.map text{font:700 34px system-ui,sans-serif;fill:var(--ink);text-anchor:middle;dominant-baseline:central;
paint-order:stroke;stroke:var(--panel);stroke-width:9px;stroke-linejoin:round;pointer-events:none}
.map circle.voted{stroke:var(--ink);stroke-width:2}
.map circle.here{stroke:var(--ink);stroke-width:5}
.legend{display:flex;flex-wrap:wrap;gap:4px 14px;font-size:.85rem;color:var(--soft);min-height:24px;align-items:center}
.legend i{display:inline-block;width:11px;height:11px;border-radius:50%;margin-right:5px;vertical-align:-1px}
.legend.scale{flex-wrap:nowrap}.legend.scale b{flex:1;height:10px;border-radius:5px;
background:linear-gradient(to right in oklab,var(--low),var(--high))}
.tip{position:absolute;z-index:2;pointer-events:none;background:var(--panel);border:1px solid var(--rule);
border-radius:12px;padding:10px 12px;box-shadow:0 8px 28px #0004;font-size:.82rem;width:250px}
.tip canvas{width:56px;height:56px;image-rendering:pixelated;border-radius:6px;float:right;background:#fff}
.tip ol{list-style:none;margin:8px 0 0;padding:0;clear:both}
.tip li{display:grid;grid-template-columns:34px 1fr 40px;gap:6px;align-items:center;margin:2px 0}
.tip .track{position:relative;height:9px;background:var(--faint);border-radius:4px;overflow:visible}
.tip .track i{position:absolute;inset:0 auto 0 0;border-radius:4px}
.tip .track u{position:absolute;top:-3px;bottom:-3px;width:2px;background:var(--ink)}
.tip .number{text-align:right;font-variant-numeric:tabular-nums}
.charts{display:grid;grid-template-columns:repeat(auto-fit,minmax(260px,1fr));gap:16px}
.chart{background:var(--panel);border:1px solid var(--rule);border-radius:14px;padding:12px 10px 4px;width:100%;
height:auto}
.bar{fill:var(--accent)}.axis{stroke:var(--soft);stroke-width:1}.median{stroke:var(--ink);stroke-width:1.5;
stroke-dasharray:4 3}
.tick{font:11px system-ui,sans-serif;fill:var(--soft)}.chart-title{font:600 13px system-ui,sans-serif;fill:var(--ink)}
dl{display:grid;grid-template-columns:repeat(auto-fit,minmax(min(420px,100%),1fr));gap:0 40px;
margin:8px 0 16px;font-size:.92rem}
dl div{display:flex;gap:14px;padding:6px 0;border-bottom:1px solid var(--rule)}
dt{color:var(--soft);flex:0 0 118px}dd{margin:0;min-width:0;overflow-wrap:anywhere}
.point-map{position:relative}
.planes figure.other{display:none}
.planes canvas{display:block;width:100%;height:auto;margin:4px 0}
.point-map .tip li,.shares li{display:grid;grid-template-columns:minmax(60px,90px) 1fr 40px;gap:6px;
align-items:center;margin:2px 0}
.point-map .tip li>span:first-child,.shares li>span:first-child{overflow:hidden;text-overflow:ellipsis;
white-space:nowrap}
.items{display:grid;grid-template-columns:repeat(auto-fill,minmax(230px,1fr));gap:12px}
.item{background:var(--panel);border:1px solid var(--rule);border-radius:12px;padding:10px 12px;font-size:.84rem;
break-inside:avoid;min-width:0}
.item img{float:right;width:64px;height:64px;object-fit:contain;border-radius:6px;margin:0 0 6px 8px;
background:var(--faint)}
.item strong{display:block;overflow-wrap:anywhere}.item .more{color:var(--soft)}
.shares{list-style:none;margin:8px 0 0;padding:0;clear:both;max-width:none}
.panels{display:grid;grid-template-columns:repeat(auto-fit,minmax(min(320px,100%),1fr));gap:16px}
.panel{background:var(--panel);border:1px solid var(--rule);border-radius:14px;padding:12px 16px 14px;font-size:.9rem;
break-inside:avoid;min-width:0}
.panel .shares li{grid-template-columns:minmax(60px,170px) 1fr 44px}
.track{position:relative;display:block;height:9px;background:var(--faint);border-radius:4px}
.track i{position:absolute;inset:0 auto 0 0;border-radius:4px}
.number{text-align:right;font-variant-numeric:tabular-nums}
.line{fill:none;stroke:var(--accent);stroke-width:2}.whisker{stroke:var(--soft);stroke-width:1}
.dot{fill:var(--panel);stroke:var(--accent);stroke-width:2}.dot.best{fill:var(--good);stroke:var(--good)}
.chart.wide{max-width:720px;padding:14px 12px 6px}
.warning{border-left:4px solid #d9822b;background:var(--panel);padding:8px 14px;border-radius:0 10px 10px 0;
margin:10px 0;max-width:95ch}
.key{display:inline-block;width:11px;height:11px;border-radius:50%;margin-right:8px;vertical-align:-1px}
h3{font-size:1rem;margin:20px 0 8px}
pre{background:var(--panel);border:1px solid var(--rule);border-radius:10px;padding:12px 16px;overflow-x:auto;
margin:8px 0;font:.88rem/1.5 ui-monospace,SFMono-Regular,Menlo,Consolas,monospace}
footer{margin-top:36px;color:var(--soft);font-size:.85rem}
@media(max-width:600px){table{font-size:.88rem}th,td{padding:8px 7px}tbody th{white-space:normal;min-width:110px}}
@media print{:root{--paper:#fff;--panel:#fff;--ink:#1f2430;--soft:#5b6270;--rule:#d8d8d8;--accent:#3457b2;
--good:#1b7f4b;--wash:#f1f8f3;--low:#e4e9f5;--high:#16307c;--faint:#ddd}
html{font-size:9.5px}main{padding:0;max-width:none}section{margin-top:18px}.cards{margin-top:14px;gap:10px}
.cards,.charts{grid-template-columns:repeat(3,1fr)}.maps,dl{grid-template-columns:1fr 1fr}
.planes{display:grid;grid-template-columns:1fr 1fr 1fr;gap:8px}.planes figure.other{display:block}
.planes .legend{font-size:6.5px;gap:2px 6px}.planes .legend i{width:6px;height:6px}.planes figure{padding:6px}
.items{grid-template-columns:repeat(4,1fr);gap:6px}.item{padding:6px 8px}.item img{width:40px;height:40px}
.item .shares li{grid-template-columns:46px 1fr 24px}.panels{grid-template-columns:1fr 1fr}.chart.wide{max-width:62%}
.cards:has(.card:nth-child(4)){grid-template-columns:repeat(4,1fr)}pre{white-space:pre-wrap;overflow:visible}
.point-map .switch{display:none}
.card,figure,table,.chart,dl div,li,.note{break-inside:avoid}h2,.note{break-after:avoid}th,td{padding:4px 12px}
.switch button[aria-pressed=false],.tip{display:none}
footer{margin-top:12px}@page{margin:12mm}}
"""
