import { createHash } from 'node:crypto';
import type { Config } from '../config/config.ts';
import { CONSOLE_PATH } from './console/pages.ts';

/**
 * Reads the link's fragment, says what it is for, and accepts with a passkey or an API key. Paths are relative to the
 * page.
 */
const SCRIPT = `'use strict';
const link = Object.fromEntries(new URLSearchParams(location.hash.slice(1)));
history.replaceState(null, '', location.pathname);
const element = (id) => document.getElementById(id);
const base64url = (buffer) =>
  btoa(String.fromCharCode(...new Uint8Array(buffer))).replaceAll('+', '-').replaceAll('/', '_').replace(/=+$/, '');
const hex = (bytes) => [...bytes].map((byte) => byte.toString(16).padStart(2, '0')).join('');
const bytesOf = (text) => Uint8Array.from(atob(text.replaceAll('-', '+').replaceAll('_', '/')), (c) => c.charCodeAt(0));
let invitation;

function show(id) {
  for (const part of document.querySelectorAll('section')) part.hidden = part.id !== id;
}
function fail(error) {
  element('problem').textContent = error.message;
}
async function call(name, body) {
  const answer = await fetch('public/v1/invitation/' + name, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ ...link, ...body }),
  });
  const said = await answer.json();
  if (!answer.ok) throw new Error(said.message);
  return said;
}
async function accept(credential) {
  const { organizationId, userId } = await call('accept', credential);
  element('organization-id').textContent = organizationId;
  element('user-id').textContent = userId;
  const toConsole = element('console');
  if (toConsole) toConsole.href += '?organization=' + encodeURIComponent(organizationId);
  show('done');
}
async function withPasskey() {
  const name = invitation.receiverUserName;
  const challenge = crypto.getRandomValues(new Uint8Array(32));
  const made = await navigator.credentials.create({
    publicKey: {
      rp: { name: invitation.organizationName },
      user: { id: crypto.getRandomValues(new Uint8Array(16)), name: invitation.receiverEmail, displayName: name },
      challenge,
      pubKeyCredParams: [{ type: 'public-key', alg: -7 }, { type: 'public-key', alg: -257 }],
      authenticatorSelection: { residentKey: 'preferred', userVerification: 'preferred' },
    },
  });
  const transports = made.response.getTransports?.() ?? [];
  await accept({
    authenticator: {
      authenticatorName: 'Passkey',
      challenge: base64url(challenge),
      attestation: {
        credentialId: base64url(made.rawId),
        clientDataJson: base64url(made.response.clientDataJSON),
        attestationObject: base64url(made.response.attestationObject),
        transports: transports
          .filter((transport) => ['ble', 'internal', 'nfc', 'usb', 'hybrid'].includes(transport))
          .map((transport) => 'AUTHENTICATOR_TRANSPORT_' + transport.toUpperCase()),
      },
    },
  });
}
async function makeKey() {
  const pair = await crypto.subtle.generateKey({ name: 'ECDSA', namedCurve: 'P-256' }, true, ['sign']);
  const { x, y, d } = await crypto.subtle.exportKey('jwk', pair.privateKey);
  const prefix = bytesOf(y).at(-1) % 2 === 0 ? '02' : '03';
  element('public-key').value = prefix + hex(bytesOf(x));
  element('private-key').value = hex(bytesOf(d));
  element('made').hidden = false;
}
async function withKey(event) {
  event.preventDefault();
  const publicKey = element('public-key').value.trim();
  await accept({ apiKey: { apiKeyName: 'API key', publicKey, curveType: 'API_KEY_CURVE_P256' } });
}
const guarded = (work) => async (event) => {
  element('problem').textContent = '';
  document.body.inert = true;
  await work(event).catch(fail);
  document.body.inert = false;
};
element('passkey').addEventListener('click', guarded(withPasskey));
element('make-key').addEventListener('click', guarded(makeKey));
element('key').addEventListener('submit', guarded(withKey));
call('open', {})
  .then((opened) => {
    invitation = opened;
    element('organization').textContent = opened.organizationName;
    element('user').textContent = opened.receiverUserName + ' (' + opened.receiverEmail + ')';
    element('expires').textContent = new Date(opened.expiresAt).toLocaleString();
    element('by-passkey').hidden = opened.accessType === 'ACCESS_TYPE_API';
    element('by-key').hidden = opened.accessType === 'ACCESS_TYPE_WEB';
    show('invited');
  })
  .catch((error) => {
    fail(error);
    show('');
  });`;

const STYLE = `:root{color-scheme:light dark}
body{font:16px/1.5 system-ui,sans-serif;max-width:36rem;margin:2rem auto;padding:0 1rem}
dt{opacity:.75}dd{margin:0 0 .5rem;overflow-wrap:anywhere}
button{font:inherit;padding:.4rem .8rem}
input{font:inherit;width:100%;box-sizing:border-box}
[role=alert]{color:#c00}
[hidden]{display:none}`;

export const invitationPage = ({ console }: Pick<Config, 'console'>): string => `<!doctype html>
<html lang="en">
<head><meta charset="utf-8"><title>Invitation</title><meta name="viewport" content="width=device-width">
<style>${STYLE}</style>
</head>
<body>
<h1>Invitation</h1>
<p id="problem" role="alert"></p>
<section id="opening"><p>Opening the invitation…</p><noscript><p>This page needs JavaScript.</p></noscript></section>
<section id="invited" hidden>
<dl><dt>Organization</dt><dd id="organization"></dd><dt>You become</dt><dd id="user"></dd><dt>Until</dt><dd id="expires"></dd></dl>
<div id="by-passkey"><h2>With a passkey</h2><p><button id="passkey" type="button">Accept with a passkey</button></p></div>
<div id="by-key"><h2>With an API key</h2>
<p><button id="make-key" type="button">Make a key here</button></p>
<form id="key">
<p id="made" hidden><label>Private key: save it now, it is not shown again <input id="private-key" readonly autocomplete="off"></label></p>
<p><label>Public key, P-256 in hexadecimal <input id="public-key" required autocomplete="off" spellcheck="false"></label></p>
<p><button type="submit">Accept with this key</button></p>
</form></div>
</section>
<section id="done" hidden><h2>You have joined</h2>
<dl><dt>Organization id</dt><dd id="organization-id"></dd><dt>User id</dt><dd id="user-id"></dd></dl>
${console ? `<p><a id="console" href="${CONSOLE_PATH.slice(1)}/sign-in">Sign in to the console</a></p>` : ''}
</section>
<script>${SCRIPT}</script>
</body>
</html>
`;

const hashOf = (text: string): string => `'sha256-${createHash('sha256').update(text).digest('base64')}'`;

/** Only what this page consists of. */
export const INVITATION_PAGE_POLICY = [
  "default-src 'none'",
  `script-src ${hashOf(SCRIPT)}`,
  `style-src ${hashOf(STYLE)}`,
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ');
