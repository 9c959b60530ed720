// Usage: node validate_file.mjs NPM FILE
// Runs the Khronos validator on a file: prints the numbers of errors and warnings, then the messages as JSON.
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join, resolve } from 'node:path';

const [npm, file] = process.argv.slice(2);
const validator = createRequire(resolve(join(npm, 'package.json')))('gltf-validator');
const { issues } = await validator.validateBytes(new Uint8Array(readFileSync(file)), { maxIssues: 20 });
console.log(`${issues.numErrors} ${issues.numWarnings}`);
console.log(JSON.stringify(issues.messages.filter(message => message.severity < 2), null, 1));
