import { CustosError, OPERATIONS } from '@custos/sdk';

/** An operation of the registry, with the name of its method in the SDK. */
export interface NamedOperation {
  readonly method: keyof typeof OPERATIONS;
  readonly name: string;
  readonly kind: 'query' | 'activity' | 'vote';
  readonly path: string;
}

export const OPERATION_LIST: readonly NamedOperation[] = Object.entries(OPERATIONS).map(
  ([method, { name, kind, path }]) => ({ method: method as keyof typeof OPERATIONS, name, kind, path }),
);

const SUGGESTIONS_MAX = 5;

/** By its name on the wire or in the SDK, however it is spelled; unknown names are told the nearest ones. */
export function findOperation(text: string): NamedOperation {
  const wanted = plain(text);
  const found = OPERATION_LIST.find(({ name }) => plain(name) === wanted);
  if (found !== undefined) return found;
  const near = OPERATION_LIST.map(({ name }) => ({ name, steps: distanceOf(wanted, plain(name)) }))
    .filter(
      ({ name, steps }) => steps <= Math.max(2, wanted.length / 3) || (wanted !== '' && plain(name).includes(wanted)),
    )
    .sort((one, other) => one.steps - other.steps)
    .slice(0, SUGGESTIONS_MAX)
    .map(({ name }) => name);
  const hint = near.length === 0 ? '' : `did you mean ${near.join(', ')}? `;
  throw new CustosError('INVALID_OPTION', `there is no operation ${text}: ${hint}\`custos api --list\` lists them all`);
}

const plain = (name: string): string => name.toLowerCase().replaceAll(/[-_\s]/g, '');

/** How many letters have to be changed, put in or left out. */
function distanceOf(one: string, other: string): number {
  let before = Array.from({ length: other.length + 1 }, (_unused, index) => index);
  for (const [row, letter] of [...one].entries()) {
    const line = [row + 1];
    for (const [column, otherLetter] of [...other].entries()) {
      const replaced = (before[column] ?? 0) + (letter === otherLetter ? 0 : 1);
      line.push(Math.min(replaced, (before[column + 1] ?? 0) + 1, (line[column] ?? 0) + 1));
    }
    before = line;
  }
  return before.at(-1) ?? 0;
}
