import type { Domain } from '../../engine/domain.ts';
import { tables } from './tables.ts';

export const balances: Domain = { name: 'balances', operations: [], tables };
