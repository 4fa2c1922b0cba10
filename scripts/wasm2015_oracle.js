// Runs in the engine of the time: answers the calls of a folder. Argument: the folder.
var fs = require('fs');
var folder = process.argv[2];
var messages = {
  'unreachable': 'unreachable',
  'memory access out of bounds': 'bounds',
  'divide by zero': 'zero',
  'remainder by zero': 'zero',
  'divide result unrepresentable': 'range',
  'integer result unrepresentable': 'range',
  'float unrepresentable in integer range': 'range',
  'invalid function': 'element',
  'function signature mismatch': 'signature',
};
function hex(number) { return (number >>> 0).toString(16); }
function wide(high, low) { return high ? hex(high) + ('0000000' + hex(low)).slice(-8) : hex(low); }
function result(words, kind) {
  var low = words[0] >>> 0, high = words[1] >>> 0;
  switch (kind) {
    case '': return 'v';
    case 'i32': return hex(low);
    case 'i64': return wide(high, low);
    case 'f32': return (low & 0x7fffffff) > 0x7f800000 ? 'nan' : hex(low);
  }
  var magnitude = high & 0x7fffffff;
  return magnitude > 0x7ff00000 || magnitude === 0x7ff00000 && low !== 0 ? 'nan' : wide(high, low);
}
var answers = {};
JSON.parse(fs.readFileSync(folder + '/calls.json', 'utf8')).forEach(function (test) {
  var bytes = new Uint8Array(fs.readFileSync(folder + '/' + test.file));
  var instance;
  try {
    instance = _WASMEXP_.instantiateModule(bytes.buffer, {});
  } catch (error) {
    console.error(test.name + ': the engine refuses it: ' + error);
    process.exitCode = 1;
    return;
  }
  var words = new Uint32Array(instance.memory, 0, 2);
  var all = test.calls.map(function (call) {
    var a = call[1];
    try {
      // A function of this engine has no `apply`.
      instance[call[0]](a[0] | 0, a[1] | 0, a[2] | 0, a[3] | 0, a[4] | 0, a[5] | 0, a[6] | 0, a[7] | 0);
    } catch (error) {
      var word = messages[String(error)] || messages[error.message];
      if (!word) throw new Error(test.name + ': ' + error);
      return '!' + word;
    }
    return result(words, call[2]);
  });
  var memory = new Uint8Array(instance.memory), hash = 0x811c9dc5;
  for (var at = 16; at < memory.length; at++) hash = Math.imul(hash ^ memory[at], 0x01000193);
  all.push('#' + hex(hash));
  answers[test.name] = all.join(' ');
});
fs.writeFileSync(folder + '/answers.json', JSON.stringify(answers));
