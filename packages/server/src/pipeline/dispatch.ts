import type { Operation } from '../operations/define.ts';
import type { App } from './app.ts';
import { query } from './query.ts';
import type { RawRequest } from './request.ts';
import { submit } from './submit.ts';
import { vote } from './vote.ts';

/** The one way in. */
export async function dispatch(app: App, operation: Operation, request: RawRequest): Promise<unknown> {
  switch (operation.kind) {
    case 'activity':
      return await submit(app, operation, request);
    case 'vote':
      return await vote(app, operation, request);
    case 'query':
      return await query(app, operation, request);
  }
}
