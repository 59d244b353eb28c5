import { CustosError, NetworkError } from '@custos/sdk';
import { Command } from 'commander';
import { openService, type ServiceOptions } from '../credentials.ts';
import { explainAbsence } from '../fail.ts';

/** `custos console`: a new link that signs in to the console, for whoever can read the credentials file. */
export function consoleCommand(): Command {
  return new Command('console')
    .description(
      'Print a link that signs in to the web console once, within ten minutes, in a browser on this machine. The service must run here, with the embedded database.',
    )
    .option('--credentials <file>', 'credentials file (default: root-credentials.json in CUSTOS_DATA_DIR or ./data)')
    .option('--url <address>', 'loopback address of the service, if it is not the one in the file')
    .action(async (options: ServiceOptions) => {
      const { baseUrl, stamper, organizationId } = openService(options);
      const wish = { type: 'CONSOLE_NEW_LINK', organizationId, timestampMs: String(Date.now()) };
      const body = Uint8Array.from(Buffer.from(JSON.stringify(wish)));
      const { headerName, headerValue } = await stamper.stamp(body);
      const address = `${baseUrl}/console/new-link`;
      const answer = await fetch(address, {
        method: 'POST',
        headers: { 'content-type': 'application/json', [headerName]: headerValue },
        body,
        redirect: 'error',
        signal: AbortSignal.timeout(10_000),
      }).catch((cause: unknown) => {
        throw explainAbsence(new NetworkError(`no answer from ${baseUrl}`, cause));
      });
      const said = (await answer.json().catch(() => ({}))) as { url?: string; message?: string; errorCode?: string };
      if (!answer.ok || said.url === undefined) throw refusal(address, answer.status, said);
      process.stdout.write(`${said.url}\n`);
    });
}

function refusal(address: string, status: number, { message, errorCode }: { message?: string; errorCode?: string }) {
  const code = errorCode ?? 'UNEXPECTED_ANSWER';
  if (code === 'PUBLIC_KEY_NOT_FOUND') {
    return new CustosError(code, 'the API key of this credentials file was deleted: sign in with a passkey instead');
  }
  return new CustosError(code, message ?? `${address} answered ${status}`, { httpStatus: status });
}
