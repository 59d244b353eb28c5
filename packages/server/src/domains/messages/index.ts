import type { Domain } from '../../engine/domain.ts';
import { listEmailEvents } from './operations/list-email-events.ts';
import { recordEmailEvent } from './operations/record-email-event.ts';
import { tables } from './tables.ts';

export const messages: Domain = {
  name: 'messages',
  operations: [listEmailEvents, recordEmailEvent],
  tables,
};
