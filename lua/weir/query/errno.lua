--- errno.lua - the last error, as resource-query keeps it: what a match reports at the end is what was set last on the
-- way, so every place that sets it there sets it here.

local M = { code = nil }

local TEXTS = {
  EINVAL = "Invalid argument", EBUSY = "Device or resource busy", ENODEV = "No such device",
  ENOENT = "No such file or directory", ERANGE = "Numerical result out of range", EEXIST = "File exists",
  EOVERFLOW = "Value too large for defined data type", ENOMEM = "Cannot allocate memory",
  ENOTSUP = "Operation not supported",
}

--- What strerror() says of a code.
function M.text(code) return TEXTS[code or M.code] or "Success" end

return M
