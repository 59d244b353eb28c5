/** The page at `/`: what this is and where to go. */
export function welcomePage(vendorNames: boolean): string {
  const compatibility = vendorNames
    ? '<p>The public <code>@turnkey/*</code> client SDKs work against this address. Custos is an independent project and not that vendor.</p>'
    : '';
  return `<!doctype html>
<html lang="en">
<head><meta charset="utf-8"><title>Custos</title><meta name="viewport" content="width=device-width">
<style>body{font:16px/1.5 system-ui,sans-serif;max-width:42rem;margin:3rem auto;padding:0 1rem;color:#222}code{background:#f2f2f2;padding:.1em .3em}</style>
</head>
<body>
<h1>Custos</h1>
<p>This is a Custos server: self-hosted key management and wallet custody behind one stamped JSON API.</p>
<ul>
<li><a href="/openapi.json">/openapi.json</a>: every operation this server serves</li>
<li><a href="/healthz">/healthz</a> and <a href="/readyz">/readyz</a>: whether it is alive and ready</li>
<li><code>POST /public/v1/query/whoami</code>: the first call to try, stamped with a key from <code>root-credentials.json</code></li>
<li><code>POST /v1/signup_v2</code>: the sign-up proxy, for applications without a server of their own; its configuration id is in the same file</li>
</ul>
${compatibility}
</body>
</html>
`;
}
