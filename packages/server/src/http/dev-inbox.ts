import { createHash } from 'node:crypto';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { type DevInboxParts, type DevMessage, openDevInbox } from '../domains/messages/dev-inbox.ts';
import { escapeHtml } from '../domains/messages/templates/html.ts';
import { ApiError } from '../lib/errors.ts';
import { isLocalCaller } from './peer.ts';

export const DEV_INBOX_PATH = '/dev/inbox';

/** Looks every two seconds and loads the page again when something has come. */
const SCRIPT = `const seen = document.body.dataset.newest;
setInterval(async () => {
  const answer = await fetch('${DEV_INBOX_PATH}.json').catch(() => undefined);
  const [newest] = answer?.ok ? await answer.json() : [];
  if (newest && newest.id !== seen) location.reload();
}, 2000);`;

const STYLE = `:root{color-scheme:light dark}
body{font:16px/1.5 system-ui,sans-serif;max-width:46rem;margin:1.5rem auto;padding:0 1rem}
article{border:1px solid #8888;border-radius:8px;padding:.75rem 1rem;margin:1rem 0}
h2{font-size:1rem;margin:0;overflow-wrap:anywhere}
small{opacity:.75}
pre{white-space:pre-wrap;overflow-wrap:anywhere;margin:.5rem 0}
iframe{width:100%;height:24rem;border:1px solid #8888;background:#fff}`;

const hashOf = (text: string): string => `'sha256-${createHash('sha256').update(text).digest('base64')}'`;

/** Only what this page consists of; mails are shown in frames without scripts, forms or links out of them. */
const PAGE_POLICY = [
  "default-src 'none'",
  `script-src ${hashOf(SCRIPT)}`,
  "style-src 'unsafe-inline'",
  // The logo of a mail, which is to look here as it will.
  'img-src https: data:',
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ');

/**
 * The development inbox as a page and as JSON (protocol/messages 4.2). Where it is not to be, the paths do not exist.
 */
export function addDevInbox(server: FastifyInstance, parts: DevInboxParts): void {
  const inbox = openDevInbox(parts);
  if (inbox === undefined) return;
  server.get(DEV_INBOX_PATH, async (request, reply) => {
    requireLocal(request);
    const page = renderPage(await inbox.list());
    return await guarded(reply)
      .header('content-security-policy', PAGE_POLICY)
      .type('text/html; charset=utf-8')
      .send(page);
  });
  server.get(`${DEV_INBOX_PATH}.json`, async (request, reply) => {
    requireLocal(request);
    const list = JSON.stringify(await inbox.list());
    return await guarded(reply).type('application/json; charset=utf-8').send(list);
  });
}

function requireLocal(request: FastifyRequest): void {
  if (isLocalCaller(request)) return;
  throw new ApiError('PATH_NOT_FOUND', 'there is nothing at this path; see /openapi.json');
}

const guarded = (reply: FastifyReply): FastifyReply =>
  reply
    .header('cache-control', 'no-store')
    .header('x-content-type-options', 'nosniff')
    .header('cross-origin-resource-policy', 'same-origin')
    .header('referrer-policy', 'no-referrer');

function renderPage(messages: readonly DevMessage[]): string {
  const list = messages.length === 0 ? '<p>No message yet.</p>' : messages.map(renderMessage).join('\n');
  return `<!doctype html>
<html lang="en">
<head><meta charset="utf-8"><title>Development inbox</title><meta name="viewport" content="width=device-width">
<style>${STYLE}</style>
</head>
<body data-newest="${escapeHtml(messages[0]?.id ?? '')}">
<h1>Development inbox</h1>
<p>Messages that would have been sent, newest first. The same as JSON: <a href="${DEV_INBOX_PATH}.json">${DEV_INBOX_PATH}.json</a></p>
${list}
<script>${SCRIPT}</script>
</body>
</html>
`;
}

function renderMessage({ channel, to, subject, text, html, createdAt }: DevMessage): string {
  const title = channel === 'email' ? subject : 'Text message';
  const preview =
    html === ''
      ? ''
      : `\n<details><summary>HTML</summary><iframe sandbox title="HTML form of the mail" srcdoc="${escapeHtml(html)}"></iframe></details>`;
  return `<article>
<h2>${escapeHtml(title)}</h2>
<small>${channel} to ${escapeHtml(to)}, <time>${createdAt}</time></small>
<pre>${withLinks(text)}</pre>${preview}
</article>`;
}

/** Escaped text in which web addresses can be followed. */
const withLinks = (text: string): string =>
  text
    .split(/(https?:\/\/[^\s<>"']+)/)
    .map((part, index) => {
      const escaped = escapeHtml(part);
      return index % 2 === 0 ? escaped : `<a href="${escaped}" rel="noreferrer">${escaped}</a>`;
    })
    .join('');
