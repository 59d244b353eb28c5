// What a person reads in the terminal of a service that was just started, and in the mails of its development inbox.
import type { TestServer } from '../../../server/test/harness/server.ts';

/** The address of the console that the start printed. */
export function printedLink({ output }: TestServer): string {
  const [, link] = /^ {2}console {7}(\S+)$/m.exec(output.stdout) ?? [];
  if (link === undefined) throw new Error(`no link to the console in:\n${output.stdout}`);
  return link;
}

interface Mail {
  readonly to: string;
  readonly text: string;
}

/** The link in the newest mail to somebody. */
export async function mailedLink({ baseUrl }: TestServer, to: string): Promise<string> {
  const answer = await fetch(`${baseUrl}/dev/inbox.json`);
  const mail = ((await answer.json()) as readonly Mail[]).find((candidate) => candidate.to === to);
  const [link] = /https?:\/\/\S+/.exec(mail?.text ?? '') ?? [];
  if (link === undefined) throw new Error(`no mail with a link to ${to}`);
  return link;
}
