import { writeFileSync } from 'node:fs';
import type { Comparison } from './compare.ts';
import { type Figure, SINGLE, type Summary } from './figures.ts';
import { floorOfGoal } from './goals.ts';

type Compared = Comparison & { readonly title: string };

const HEAD = ['operation', 'connections', 'requests a second', 'p50 ms', 'p99 ms', 'share of the floor'];

/** One table for a reader who has no time for the others. Shares at one connection are those of p50. */
export function markdownTable(figures: readonly Figure[], compared: readonly Compared[]): string {
  const rows = [
    ...figures.map((figure) => {
      const { plan, service } = figure;
      const { name, database, connections } = plan;
      const floor = floorOfGoal(figure);
      const times = connections === SINGLE ? floor?.p50Ratio : floor?.ratio;
      return row(`${name}, ${DATABASES[database]}`, String(connections), service, 1 / (times ?? Number.NaN));
    }),
    ...compared.map(({ title, other, ratio }) => {
      const [, database = '', , name = '', connections = ''] =
        /^(\w+) (logins |webhooks )?(.*?) ?(\d*)$/.exec(title)?.map((part) => part ?? '') ?? [];
      const kind = title.includes(' webhooks ') ? 'webhook ' : '';
      return row(`${kind}${name}, ${DATABASES[database as 'sqlite']}`, connections, other, 1 / ratio);
    }),
  ];
  const line = (cells: readonly string[]): string => `| ${cells.join(' | ')} |`;
  return [line(HEAD), `|${'---|'.repeat(HEAD.length)}`, ...rows.map(line)].join('\n');
}

const DATABASES = { sqlite: 'SQLite', postgres: 'PostgreSQL' } as const;

const row = (name: string, connections: string, { rate, p50Us, p99Us }: Summary, share: number): string[] => [
  name,
  connections,
  Math.round(rate).toLocaleString('en'),
  ms(p50Us),
  ms(p99Us),
  Number.isFinite(share) ? share.toFixed(2) : '',
];

const ms = (us: number): string => (Number.isFinite(us) ? (us / 1000).toFixed(2) : '');

export const writeMarkdown = (file: string, text: string): void => writeFileSync(file, `${text}\n`);
