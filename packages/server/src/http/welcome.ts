import { createHash } from 'node:crypto';
import type { Config } from '../config/config.ts';
import { CONSOLE_PATH } from './console/pages.ts';

const STYLE = `:root{color-scheme:light dark;--canvas:#f6f6f3;--surface:#fff;--line:#e2e2dc;--ink:#16181b;--ink-2:#4c5157;--accent:#2a48c4}
@media (prefers-color-scheme:dark){:root{--canvas:#0e1012;--surface:#16191c;--line:#2b3036;--ink:#eceef0;--ink-2:#aeb5bd;--accent:#9db0ff}}
*{box-sizing:border-box}
body{margin:0;min-height:100vh;display:grid;place-items:center;padding:24px 16px;background:var(--canvas);color:var(--ink-2);font:14px/20px -apple-system,BlinkMacSystemFont,"Segoe UI",Roboto,"Noto Sans","Liberation Sans",Arial,sans-serif}
main{width:100%;max-width:560px;padding:32px;background:var(--surface);border:1px solid var(--line);border-radius:10px}
h1{margin:0 0 8px;font-size:28px;line-height:36px;font-weight:600;color:var(--ink)}
p{margin:0 0 16px}
.open{display:inline-block;padding:10px 16px;border-radius:6px;background:var(--ink);color:var(--surface);font-weight:600;text-decoration:none}
ul{list-style:none;margin:8px 0 0;padding:0}
li{padding:12px 0;border-top:1px solid var(--line)}
li a,code{font:13px/20px SFMono-Regular,Menlo,"Cascadia Mono",Consolas,"Liberation Mono",monospace}
code{color:var(--ink);overflow-wrap:anywhere}
li a{color:var(--accent)}
a:focus-visible{outline:2px solid var(--accent);outline-offset:2px}
small{display:block;margin-top:16px;font-size:12px;line-height:16px}`;

const hashOf = (text: string): string => `'sha256-${createHash('sha256').update(text).digest('base64')}'`;

export const WELCOME_HEADERS = {
  'content-security-policy': `default-src 'none'; style-src ${hashOf(STYLE)}; base-uri 'none'; form-action 'none'; frame-ancestors 'none'`,
  'referrer-policy': 'no-referrer',
  'x-content-type-options': 'nosniff',
} as const;

/** The page at `/`: what this is and where to go. */
export function welcomePage({ vendorNames, console }: Pick<Config, 'vendorNames' | 'console'>): string {
  const toConsole = console ? `<p><a class="open" href="${CONSOLE_PATH}">Open the console</a></p>` : '';
  const compatibility = vendorNames
    ? '<small>The public <code>@turnkey/*</code> client SDKs work against this address. Custos is an independent project and not that vendor.</small>'
    : '';
  return `<!doctype html>
<html lang="en">
<head><meta charset="utf-8"><title>Custos</title><meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<style>${STYLE}</style>
</head>
<body>
<main>
<h1>Custos</h1>
<p>This is a Custos server: self-hosted key management and wallet custody behind one stamped JSON API.</p>
${toConsole}
<ul>
<li><a href="/openapi.json">/openapi.json</a><br>every operation that this server serves</li>
<li><a href="/healthz">/healthz</a> and <a href="/readyz">/readyz</a><br>whether it is alive and ready</li>
<li><code>POST /public/v1/query/whoami</code><br>the first call to try, stamped with a key from <code>root-credentials.json</code></li>
<li><code>POST /v1/signup_v2</code><br>the sign-up proxy, for applications without a server of their own; its configuration id is in the same file</li>
</ul>
${compatibility}
</main>
</body>
</html>
`;
}
