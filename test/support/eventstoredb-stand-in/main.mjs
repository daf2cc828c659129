// A stand-in for EventStoreDB, for tests only: node main.mjs DIRECTORY [PORT [forgetful]]
// It speaks the parts of the protocol that the adapter uses, as the real server was measured to answer. Its events
// survive kill -9; it is no database and is never offered to users. A forgetful one refuses a repeat of an append, which
// the real server answers as the first time: so a test sees what the adapter does on its own.
import { openJournal } from './journal.mjs';
import { serve } from './serve.mjs';

const [directory, port = '0', fault] = process.argv.slice(2);
if (directory === undefined) throw new Error('usage: node main.mjs DIRECTORY [PORT [forgetful]]');

const { url } = await serve(await openJournal(directory), Number(port), { knowsRepeats: fault !== 'forgetful' });
console.log(`EventStoreDB STAND-IN, for tests only: ${url}`);
process.once('SIGTERM', () => process.exit(0));
