import type { FastifyInstance } from 'fastify';
import type { ServedApp } from '../../app.ts';
import { addConsoleCalls } from './calls.ts';
import { addConsolePages, refuseConsole } from './pages.ts';

/** The web console (protocol/console 1). There are no CORS headers: only its own page may talk to it. */
export function addConsole(server: FastifyInstance, app: ServedApp): void {
  if (!app.config.console) {
    refuseConsole(server, 'the console is switched off (CUSTOS_CONSOLE)');
    return;
  }
  addConsolePages(server);
  addConsoleCalls(server, app);
}
