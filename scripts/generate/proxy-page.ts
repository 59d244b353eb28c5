import { proxyCalls, proxyPathOf } from '../../packages/server/src/domains/sign-up-proxy/calls.ts';
import { code, fieldTable } from './markdown.ts';
import type { NameOf } from './typescript.ts';

/** The calls of the sign-up proxy, which are no operations: they have no stamp and answer with plain objects. */
export function proxySections(nameOf: NameOf): string[] {
  return [
    '# Sign-up proxy',
    'For applications without a server of their own. Every call is a POST of JSON with the header `X-Auth-Proxy-Config-Id`; there is no stamp. The answer is a plain object. Which origins, methods and lifetimes are allowed is said by the [configuration](auth-proxy.md).',
    proxyCalls.map(({ name, summary }) => `- [${code(name)}](#${name}): ${summary}`).join('\n'),
    ...proxyCalls.flatMap((call) => [
      `## ${call.name}`,
      call.summary,
      [
        `- Path: ${code(`POST ${proxyPathOf(call)}`)}`,
        `- Largest body: ${call.bodyLimit / 1024} KiB`,
        ...(call.needsCaptcha ? [`- Needs ${code('X-Captcha-Token')} where the configuration has turned it on.`] : []),
        ...(call.takesNothing ? ['- The body may be left out.'] : []),
      ].join('\n'),
      '### Body',
      fieldTable(call.body, nameOf),
      '### Answer',
      fieldTable(call.reply, nameOf),
    ]),
  ];
}
