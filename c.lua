local p = {}
for i=1,1000 do p["p"..i]=true end
return { type = "cluster", { type = "core", count = 4000000, properties=p } }
