--- values.lua - what kind of value a document holds.

local core = require "weir.core"

local M = {}

function M.is_array(x) return type(x) == "table" and getmetatable(x) == "weir.array" end

function M.is_map(x) return type(x) == "table" and getmetatable(x) ~= "weir.array" end

function M.is_scalar(x) return x ~= nil and x ~= core.null and type(x) ~= "table" end

return M
