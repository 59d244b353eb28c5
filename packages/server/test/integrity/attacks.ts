import { randomUUID } from 'node:crypto';
import { expect } from 'vitest';
import { AccessRulesCache } from '../../src/engine/access-rules.ts';
import { newPrivateKey, PAYLOAD } from '../fixtures/keys.ts';
import {
  type Caller,
  COMPLETED,
  outcome,
  PENDING,
  policyFor,
  propose,
  Rows,
  UNPROVEN,
} from '../flows/fixtures/access.ts';
import { LoginService } from '../flows/fixtures/logins.ts';
import { type Answer, createSubOrganization, createUser, type TestClient } from '../harness/client.ts';
import type { DatabaseKind } from '../harness/databases.ts';
import { remark } from '../harness/remark.ts';

// What the tests of forged rows about access share: somebody who can write to the database, and has no key of the service.

export const DONE = [200, COMPLETED];
export const FOUND = [200, undefined];
export const WAITS = [200, PENDING];
export const OWES = [200, UNPROVEN];
export const DENIED = [403, 'REQUEST_NOT_AUTHORIZED'];
export const NOT_FOUND = [404, 'RESOURCE_NOT_FOUND'];
export const UNKNOWN_KEY = [401, 'PUBLIC_KEY_NOT_FOUND'];
const REFUSED = [500, 'INTEGRITY_VIOLATION'];

export type Row = Readonly<Record<string, unknown>>;
type Cell = string | number | null;

/** What a thief writes, and the request that it is written for. */
export interface Attack {
  /** What the request is about, made anew for each one. */
  readonly make?: () => Promise<Row>;
  readonly forge: (target: Row) => Promise<unknown>;
  readonly hope: (target: Row) => Promise<Answer>;
  /** What the request is answered where nothing was written. */
  readonly before: unknown;
}

/** Organizations that are attacked. */
export interface Scene {
  /** Where the thief writes. */
  readonly rows: Forger;
  /** What somebody there does before and after. */
  readonly works: () => Promise<Answer>;
  readonly attacks: Readonly<Record<string, Attack>>;
}
export type Scenes = Readonly<Record<string, (attacked: Attacked) => Promise<Scene>>>;

/** The rows of some organizations in one table, as somebody writes them who has no key of the service. */
export class Forger {
  readonly table: string;
  readonly #rows: Rows;
  readonly #ids: readonly string[];

  constructor(rows: Rows, table: string, ids: readonly string[]) {
    this.#rows = rows;
    this.table = table;
    this.#ids = ids;
  }

  async all(): Promise<readonly Row[]> {
    return await this.#rows.forge(`SELECT * FROM ${this.table} WHERE ${this.scope}`);
  }

  /** The first one with these values. */
  async find(where: Row = {}): Promise<Row> {
    const row = (await this.all()).find((one) => Object.entries(where).every(([name, value]) => one[name] === value));
    expect(row?.[`${this.table}_mac`], `a row of ${this.table}`).toEqual(expect.any(String));
    return row as Row;
  }

  async insert(row: Row): Promise<void> {
    const columns = Object.keys(row);
    const marks = columns.map(() => '?');
    await this.#rows.forge(`INSERT INTO ${this.table} (${columns}) VALUES (${marks})`, Object.values(row) as Cell[]);
  }

  async update(changes: Row, where: Row = {}): Promise<void> {
    const values = [...Object.values(changes), ...Object.values(where)] as Cell[];
    await this.#rows.forge(`UPDATE ${this.table} SET ${given(changes)} WHERE ${this.#having(where)}`, values);
  }

  async remove(where: Row = {}): Promise<void> {
    await this.#rows.forge(`DELETE FROM ${this.table} WHERE ${this.#having(where)}`, Object.values(where) as Cell[]);
  }

  /** There are these and no others. */
  async putBack(rows: readonly Row[]): Promise<void> {
    await this.remove();
    for (const row of rows) await this.insert(row);
  }

  /** A row that no service wrote: without a mark, and with that of the one it is like. */
  made(request: Pick<Attack, 'hope' | 'before'>, row: Row): Readonly<Record<string, Attack>> {
    return {
      'one is made': { ...request, forge: () => this.insert({ ...row, [`${this.table}_mac`]: null }) },
      'one is made under the mark of another': { ...request, forge: () => this.insert(row) },
    };
  }

  get scope(): string {
    return `${this.table === 'organization' ? 'id' : 'organization_id'} IN (${this.#ids.map((id) => `'${id}'`)})`;
  }

  #having(where: Row): string {
    return [this.scope, ...given(where)].join(' AND ');
  }
}

const given = (row: Row): string[] => Object.keys(row).map((column) => `${column} = ?`);

/** A service, and somebody who writes to its database. */
export class Attacked implements AsyncDisposable {
  readonly logins: LoginService;
  readonly parent: Caller;
  /** Has an organization like anybody else, which goes on all the time. */
  readonly thief: TestClient;
  readonly #rows: Rows;

  private constructor(logins: LoginService, rows: Rows, thief: TestClient) {
    this.logins = logins;
    this.parent = logins.parent;
    this.thief = thief;
    this.#rows = rows;
  }

  static async open(database: DatabaseKind, env: Record<string, string> = {}): Promise<Attacked> {
    const logins = await LoginService.open(database, env);
    const thief = await createSubOrganization(logins.parent, 'Thief');
    return new Attacked(logins, await Rows.open(logins.service.app.config), thief);
  }

  rowsOf(table: string, ...ids: readonly string[]): Forger {
    return new Forger(this.#rows, table, ids);
  }

  /** As the thief has it, by all rules. */
  theirs(table: string, where: Row = {}): Promise<Row> {
    return this.rowsOf(table, this.thief.organizationId).find(where);
  }

  /** An organization with a key, a user who may do everything alone, and one who may do nothing. */
  async newVictim() {
    const root = await createSubOrganization(this.parent, `Victim ${randomUUID()}`);
    const [user, stranger] = [await createUser(root, 'user'), await createUser(root, 'stranger')];
    await policyFor(root, user);
    const { address } = await newPrivateKey(root);
    const sign = (client: TestClient) => client.submit('sign_raw_payload', { signWith: address, ...PAYLOAD });
    return { root, user, stranger, sign, id: root.organizationId, works: () => sign(user) };
  }

  /** The same with three root users, of whom so many decide. */
  async newQuorum(
    threshold: number,
    prepare = async (_root: TestClient, _second: TestClient): Promise<unknown> => undefined,
  ) {
    const victim = await this.newVictim();
    const { root } = victim;
    const [second, third] = [await createUser(root, 'second'), await createUser(root, 'third')];
    await prepare(root, second);
    const userIds = [root, second, third].map(({ userId }) => userId);
    await root.run('update_root_quorum', { threshold, userIds });
    return { ...victim, second, third };
  }

  /** Nothing comes of what was written, others go on, and all is well once the rows are as they were. */
  async expectRefused({ rows, works, attacks }: Scene, how: string): Promise<void> {
    const { make = async () => ({}), hope, before, forge } = attacks[how] as Attack;
    expect(outcome(await hope(await make())), how).toEqual(before);
    const target = await make();
    const genuine = await rows.all();
    await forge(target);
    this.#forget();
    const done = await this.#completed();
    for (let time = 0; time < 2; time += 1) expect(outcome(await hope(target)), how).toEqual(REFUSED);
    expect(await this.#completed(), how).toBe(done);
    expect(outcome(await propose(this.thief)), how).toEqual(DONE);
    await rows.putBack(genuine);
    this.#forget();
    expect(outcome(await works()), how).toEqual(DONE);
  }

  /** The same rows get in where they have the marks that the service would have given them. */
  async expectReal({ rows, attacks }: Scene, how: string): Promise<void> {
    const { make = async () => ({}), hope, before, forge } = attacks[how] as Attack;
    const target = await make();
    await forge(target);
    await remark(this.logins.service.app.config, rows.table, rows.scope);
    const answer = outcome(await hope(target));
    expect(answer, how).not.toEqual(before);
    expect([DONE, FOUND], how).toContainEqual(answer);
  }

  /** As a process that has just begun. */
  #forget(): void {
    const { app } = this.logins.service;
    Object.assign(app, { accessRules: new AccessRulesCache(app.storage.read) });
  }

  async #completed(): Promise<unknown> {
    const [row] = await this.#rows.forge(`SELECT count(*) AS n FROM activity WHERE status = '${COMPLETED}'`);
    return row?.['n'];
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#rows[Symbol.asyncDispose]();
    await this.logins[Symbol.asyncDispose]();
  }
}
