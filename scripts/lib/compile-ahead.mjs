// Loads entries of a built program, writes what V8 has compiled meanwhile, and prints what the entries export.
import { writeFileSync } from 'node:fs';

const [program, file, ...names] = process.argv.slice(2);
const { compileAhead } = await import(program);
const { exports, bytes } = compileAhead(names);
writeFileSync(file, bytes);
process.stdout.write(JSON.stringify(exports));
